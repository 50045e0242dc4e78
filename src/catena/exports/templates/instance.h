/* What FMI 2 and FMI 3 have in common: one instance, its variables by value reference, derivatives, projection.
 *
 * Value references count through: time | states | derivatives of the states | inputs | outputs | parameters. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    AT_X = 1,
    AT_DX = AT_X + PLANT_NX,
    AT_U = AT_DX + PLANT_NX,
    AT_Y = AT_U + PLANT_NU,
    AT_P = AT_Y + PLANT_NY,
    AT_END = AT_P + PLANT_NP
};
enum { OK = 0, DISCARD = 2, ERROR = 3 };
enum { MODEL_EXCHANGE = 1, CO_SIMULATION = 2 };

#define SOME(n) ((n) > 0 ? (n) : 1) /* C has no empty arrays */

typedef struct {
    double t, x[PLANT_NX], u[SOME(PLANT_NU)], p[SOME(PLANT_NP)]; /* what is given */
    double dx[PLANT_NX], y[SOME(PLANT_NY)];                      /* what follows; fresh: whether it does */
    double tolerance, h, start;
    int fresh, drifted, kind;
    int passed; /* how many of the switches, instants at which forces jump, lie behind */
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

static int get_value(Values *v, unsigned r, double *value)
{
    if (r >= AT_DX && r < AT_U) refresh(v);
    if (r >= AT_Y && r < AT_P) refresh(v);
    if (r < AT_X) *value = v->t;
    else if (r < AT_DX) *value = v->x[r - AT_X];
    else if (r < AT_U) *value = v->dx[r - AT_DX];
    else if (r < AT_Y) *value = v->u[r - AT_U];
    else if (r < AT_P) *value = v->y[r - AT_Y];
    else if (r < AT_END) *value = v->p[r - AT_P];
    else return ERROR;
    return OK;
}

static int set_value(Values *v, unsigned r, double value)
{
    v->fresh = 0;
    if (r >= AT_X && r < AT_DX) {
        v->x[r - AT_X] = value;
        v->drifted = 1;
    } else if (r >= AT_U && r < AT_Y) v->u[r - AT_U] = value;
    else if (r >= AT_P && r < AT_END) {
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
    double d[AT_END], to[PLANT_NX + SOME(PLANT_NY)];
    size_t k;
    memset(d, 0, sizeof d);
    for (k = 0; k < n_known; k++) {
        unsigned r = known[k];
        if (r >= AT_END || (r >= AT_DX && r < AT_U) || (r >= AT_Y && r < AT_P)) return ERROR;
        d[r] += seed[k];
    }
    PLANT_tangent(seen(v), v->x, v->u, v->p, d[0], d + AT_X, d + AT_U, d + AT_P, to, to + PLANT_NX);
    for (k = 0; k < n_unknown; k++) {
        unsigned r = unknown[k];
        if (r >= AT_DX && r < AT_U) found[k] = to[r - AT_DX];
        else if (r >= AT_Y && r < AT_P) found[k] = to[PLANT_NX + r - AT_Y];
        else if (r >= AT_X && r < AT_DX) found[k] = d[r];
        else return ERROR;
    }
    return OK;
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
    while (next_switch(v, &s) && s <= end) {
        double now = seen(v);
        int late = PLANT_advance(&now, v->x, v->u, v->p, beside(s, -1), v->tolerance, &v->h);
        v->t = late ? now : s;
        if (late) return DISCARD;
        v->passed++;
        v->h = 0.0; /* a new guess: the forces are others */
    }
    s = seen(v);
    if (s < end && PLANT_advance(&s, v->x, v->u, v->p, end, v->tolerance, &v->h)) {
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
