/* What FMI 2 and FMI 3 have in common: one instance, its variables by value reference, derivatives, projection.
 *
 * Value references count through: time | states | derivatives of the states | inputs | outputs | parameters |
 * event indicators. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    AT_X = 1,
    AT_DX = AT_X + PLANT_NX,
    AT_U = AT_DX + PLANT_NX,
    AT_Y = AT_U + PLANT_NU,
    AT_P = AT_Y + PLANT_NY,
    AT_Z = AT_P + PLANT_NP,
    AT_END = AT_Z + PLANT_NG
};
enum { OK = 0, DISCARD = 2, ERROR = 3 };
enum { MODEL_EXCHANGE = 1, CO_SIMULATION = 2 };

#define SOME(n) ((n) > 0 ? (n) : 1) /* C has no empty arrays */

typedef struct {
    double t, x[PLANT_NX], u[SOME(PLANT_NU + PLANT_NM)], p[SOME(PLANT_NP)]; /* what is given; u ends with modes of friction */
    double dx[PLANT_NX], y[SOME(PLANT_NY)];                      /* what follows; fresh: whether it does */
    double tolerance, h, start;
    int fresh, drifted, kind;
    int passed; /* how many of the switches, instants at which forces jump, lie behind */
    int placed; /* whether the state was set from outside: it says nothing of modes */
    double energy; /* twice the largest kinetic energy so far */
} Values;

typedef struct {
    Values now;
    void *environment;
    void (*log)(void);
    char name[256];
} Instance;

static void put_start(Values *v)
{
    double t = v->start;
    int kind = v->kind;
    memset(v, 0, sizeof *v);
    v->t = v->start = t;
    v->kind = kind;
    v->tolerance = PLANT_TOLERANCE;
    v->drifted = 1; /* start values are put onto the constraints */
    v->placed = 1;
    memcpy(v->x, PLANT_start, sizeof v->x);
    memcpy(v->p, PLANT_parameters, sizeof v->p);
}

/* Beside a switch, by a few units of rounding: before (side -1) or after it (side 1). */
static double beside(double s, int side) { return s + side * 1e-15 * fmax(fabs(s), 1e-3); }

/* The time as forces see it: a step that ends at a switch sees the side it came from, also where its importer is a little beyond. */
static double seen(const Values *v)
{
    double t = v->t;
    if (v->passed < PLANT_NS) t = fmin(t, beside(PLANT_switches[v->passed], -1));
    if (v->passed > 0) t = fmax(t, beside(PLANT_switches[v->passed - 1], 1));
    return t;
}

/* Count the switches that lie behind; an importer may be off their instants by rounding. */
static void pass(Values *v)
{
    v->passed = 0;
    while (v->passed < PLANT_NS && v->t >= PLANT_switches[v->passed] - 1e-9 * fmax(fabs(PLANT_switches[v->passed]), 1e-3)) v->passed++;
    v->fresh = 0;
}

/* The next instant at which the importer must stop, if there is one. */
static int next_switch(const Values *v, double *t)
{
    *t = v->passed < PLANT_NS ? PLANT_switches[v->passed] : 0.0;
    return v->passed < PLANT_NS;
}

static void refresh(Values *v)
{
    double t = seen(v);
    if (v->fresh) return;
    PLANT_derivative(t, v->x, v->u, v->p, v->dx);
    PLANT_outputs(t, v->x, v->u, v->p, v->y);
    v->fresh = 1;
}

#include "friction.h"

static int get_value(Values *v, unsigned r, double *value)
{
    double z[SOME(PLANT_NG)];
    if (r >= AT_DX && r < AT_U) refresh(v);
    if (r >= AT_Y && r < AT_P) refresh(v);
    if (r < AT_X) *value = v->t;
    else if (r < AT_DX) *value = v->x[r - AT_X];
    else if (r < AT_U) *value = v->dx[r - AT_DX];
    else if (r < AT_Y) *value = v->u[r - AT_U];
    else if (r < AT_P) *value = v->y[r - AT_Y];
    else if (r < AT_Z) *value = v->p[r - AT_P];
    else if (r < AT_END) {
        indicators(v, z);
        *value = z[r - AT_Z];
    } else return ERROR;
    return OK;
}

static int set_value(Values *v, unsigned r, double value)
{
    v->fresh = 0;
    if (r >= AT_X && r < AT_DX) {
        v->x[r - AT_X] = value;
        v->drifted = v->placed = 1;
    } else if (r >= AT_U && r < AT_Y) v->u[r - AT_U] = value;
    else if (r >= AT_P && r < AT_Z) {
        v->p[r - AT_P] = value;
        v->drifted = 1; /* a loop of other lengths closes elsewhere */
    } else return ERROR;
    return OK;
}

/* How far the state is from its constraints, beside its size; `settled` is the state one Newton step nearer. */
static double drift(const Values *v, double *settled)
{
    double worst = 0.0;
    int i;
    PLANT_project(v->t, v->x, v->u, v->p, settled);
    for (i = 0; i < PLANT_NX; i++) {
        double here = fabs(settled[i] - v->x[i]) / (1.0 + fabs(v->x[i]));
        if (worst == worst && !(here <= worst)) worst = here; /* not a number stays */
    }
    return worst;
}

/* Put the state onto its constraints by Newton's method; OK, or ERROR where that does not converge. */
static int settle(Values *v, int *changed)
{
    double settled[PLANT_NX];
    int n;
    v->drifted = *changed = 0;
    if (!PLANT_PROJECTS) return OK;
    for (n = 0; n < 50; n++) {
        double far = drift(v, settled);
        if (far <= 1e-14) return OK;
        memcpy(v->x, settled, sizeof settled);
        v->fresh = 0;
        *changed = 1;
        if (far <= 1e-8) return OK; /* the step was quadratic: what is left is rounding */
    }
    return ERROR;
}

/* Directional derivative: `unknown` of what `known` changes by `seed`. */
static int directional(const Values *v, const unsigned *unknown, size_t n_unknown, const unsigned *known, size_t n_known,
                       const double *seed, double *found)
{
    double d[AT_END], du[SOME(PLANT_NU + PLANT_NM)], to[PLANT_NX + SOME(PLANT_NY)];
    size_t k;
    memset(d, 0, sizeof d);
    for (k = 0; k < n_known; k++) {
        unsigned r = known[k];
        if (r >= AT_Z || (r >= AT_DX && r < AT_U) || (r >= AT_Y && r < AT_P)) return ERROR;
        d[r] += seed[k];
    }
    memset(du, 0, sizeof du); /* modes do not change */
    for (k = 0; k < PLANT_NU; k++) du[k] = d[AT_U + k];
    PLANT_tangent(seen(v), v->x, v->u, v->p, d[0], d + AT_X, du, d + AT_P, to, to + PLANT_NX);
    for (k = 0; k < n_unknown; k++) {
        unsigned r = unknown[k];
        if (r >= AT_DX && r < AT_U) found[k] = to[r - AT_DX];
        else if (r >= AT_Y && r < AT_P) found[k] = to[PLANT_NX + r - AT_Y];
        else if (r >= AT_X && r < AT_DX) found[k] = d[r];
        else return ERROR;
    }
    return OK;
}

/* From *t to `until`, from one change of the modes of friction to the next. */
static int run_to(Values *v, double *t, double until)
{
    int n, changed;
    for (n = 0; n < 100000; n++) {
        int how = PLANT_advance(t, v->x, v->u, v->p, until, v->tolerance, &v->h);
        if (how != 2) return how;
        v->t = *t;
        if (choose_modes(v, &changed) != OK) return 1;
        v->h = 0.0;
    }
    return 1;
}

/* A step of co-simulation with the inputs held, from switch to switch. */
static int advance(Values *v, double t, double h)
{
    int changed, status = OK;
    double end = t + h, s;
    if (v->drifted) status = settle(v, &changed);
    if (status != OK || !(h >= 0.0)) return ERROR;
    v->t = t;
    v->fresh = 0;
    if (!(h > 0.0)) return OK;
    pass(v);
    if (choose_modes(v, &changed) != OK) return ERROR; /* the inputs may be others */
    while (next_switch(v, &s) && s <= end) {
        double now = seen(v);
        int late = run_to(v, &now, beside(s, -1));
        v->t = late ? now : s;
        if (late) return DISCARD;
        v->passed++;
        v->h = 0.0; /* a new guess: the forces are others */
        if (choose_modes(v, &changed) != OK) return ERROR;
    }
    s = seen(v);
    if (s < end && run_to(v, &s, end)) {
        v->t = s;
        return DISCARD;
    }
    v->t = end;
    return OK;
}

static Instance *make_instance(const char *name, const char *token, int kind)
{
    Instance *made;
    if (token == NULL || strcmp(token, PLANT_TOKEN) != 0 || !(kind & PLANT_KINDS)) return NULL;
    made = (Instance *)calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    made->now.kind = kind;
    put_start(&made->now);
    if (name != NULL) strncpy(made->name, name, sizeof made->name - 1);
    return made;
}

static int copy_values(const Instance *from, void **to)
{
    if (*to == NULL) *to = malloc(sizeof(Values));
    if (*to == NULL) return ERROR;
    memcpy(*to, &from->now, sizeof(Values));
    return OK;
}

#if defined _WIN32
#define API __declspec(dllexport)
#elif defined __GNUC__
#define API __attribute__((visibility("default")))
#else
#define API
#endif
#define STATE(c) (&((Instance *)(c))->now)

static const char CLOSED[] = "the start values leave loops open, and Newton's method did not close them: start nearer";
static const char SHORT[] = "no step is short enough for the tolerance: the state grows without bound, or a constraint is singular";
