/* The functions of FMI 2.0 (https://fmi-standard.org) for PLANT_TITLE. */
#include "PLANT_HEADER"
#include "instance.h"

#ifdef FMI2_FUNCTION_PREFIX /* for linking several models into one program */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define F(name) JOIN(FMI2_FUNCTION_PREFIX, name)
#else
#define F(name) name
#endif

typedef void (*Logger)(void *environment, const char *instance, int status, const char *category, const char *message, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*step_finished)(void *, int);
    void *environment;
} Callbacks;
typedef struct {
    int again, terminate, nominals_changed, states_changed, next_time_defined;
    double next_time;
} EventInfo;

static int say(void *c, int status, const char *text)
{
    Instance *i = (Instance *)c;
    if (i->log != NULL) ((Logger)i->log)(i->environment, i->name, status, "logStatusError", "%s", text);
    return status;
}

API const char *F(fmi2GetTypesPlatform)(void) { return "default"; }
API const char *F(fmi2GetVersion)(void) { return "2.0"; }
API int F(fmi2SetDebugLogging)(void *c, int on, size_t n, const char *const *names) { (void)c; (void)on; (void)n; (void)names; return OK; }

API void *F(fmi2Instantiate)(const char *name, int kind, const char *guid, const char *resources, const Callbacks *callbacks,
                             int visible, int logging)
{
    Instance *made = make_instance(name, guid, kind == 0 ? MODEL_EXCHANGE : CO_SIMULATION);
    (void)resources; (void)visible; (void)logging;
    if (made != NULL && callbacks != NULL) {
        made->log = (void (*)(void))callbacks->logger;
        made->environment = callbacks->environment;
    }
    return made;
}
API void F(fmi2FreeInstance)(void *c) { free(c); }

API int F(fmi2SetupExperiment)(void *c, int with_tolerance, double tolerance, double start, int with_stop, double stop)
{
    Values *v = STATE(c);
    (void)with_stop; (void)stop;
    v->t = v->start = start;
    pass(v);
    if (with_tolerance && tolerance > 0.0) v->tolerance = tolerance;
    v->fresh = 0;
    return OK;
}
API int F(fmi2EnterInitializationMode)(void *c) { (void)c; return OK; }
API int F(fmi2ExitInitializationMode)(void *c)
{
    int changed;
    if (STATE(c)->kind == MODEL_EXCHANGE) return OK; /* there the event mode that follows does it */
    if (settle(STATE(c), &changed) != OK) return say(c, ERROR, CLOSED);
    return choose_modes(STATE(c), &changed) == OK ? OK : say(c, ERROR, MODES);
}
API int F(fmi2Terminate)(void *c) { (void)c; return OK; }
API int F(fmi2Reset)(void *c) { put_start(STATE(c)); return OK; }

API int F(fmi2GetReal)(void *c, const unsigned *r, size_t n, double *values)
{
    size_t k;
    for (k = 0; k < n; k++)
        if (get_value(STATE(c), r[k], values + k) != OK) return say(c, ERROR, "fmi2GetReal: there is no such variable");
    return OK;
}
API int F(fmi2SetReal)(void *c, const unsigned *r, size_t n, const double *values)
{
    size_t k;
    for (k = 0; k < n; k++)
        if (set_value(STATE(c), r[k], values[k]) != OK)
            return say(c, ERROR, "fmi2SetReal: only states, inputs and parameters can be set");
    return OK;
}
#define NONE(name, type) \
    API int F(name)(void *c, const unsigned *r, size_t n, type values) { (void)c; (void)r; (void)values; return n ? ERROR : OK; }
NONE(fmi2GetInteger, int *)
NONE(fmi2GetBoolean, int *)
NONE(fmi2GetString, const char **)
NONE(fmi2SetInteger, const int *)
NONE(fmi2SetBoolean, const int *)
NONE(fmi2SetString, const char *const *)

API int F(fmi2GetFMUstate)(void *c, void **state) { return copy_values((Instance *)c, state); }
API int F(fmi2SetFMUstate)(void *c, void *state) { memcpy(STATE(c), state, sizeof(Values)); return OK; }
API int F(fmi2FreeFMUstate)(void *c, void **state) { (void)c; free(*state); *state = NULL; return OK; }
API int F(fmi2SerializedFMUstateSize)(void *c, void *state, size_t *size) { (void)c; (void)state; *size = sizeof(Values); return OK; }
API int F(fmi2SerializeFMUstate)(void *c, void *state, char *bytes, size_t size)
{
    (void)c;
    if (size < sizeof(Values)) return ERROR;
    memcpy(bytes, state, sizeof(Values));
    return OK;
}
API int F(fmi2DeSerializeFMUstate)(void *c, const char *bytes, size_t size, void **state)
{
    if (size != sizeof(Values) || copy_values((Instance *)c, state) != OK) return ERROR;
    memcpy(*state, bytes, size);
    return OK;
}
API int F(fmi2GetDirectionalDerivative)(void *c, const unsigned *unknown, size_t n_unknown, const unsigned *known, size_t n_known,
                                        const double *seed, double *found)
{
    return directional(STATE(c), unknown, n_unknown, known, n_known, seed, found) == OK
               ? OK : say(c, ERROR, "fmi2GetDirectionalDerivative: unknowns are derivatives and outputs, knowns states, inputs and parameters");
}

/* Model exchange. */
API int F(fmi2EnterEventMode)(void *c) { (void)c; return OK; }
API int F(fmi2NewDiscreteStates)(void *c, EventInfo *info)
{
    int changed = 0, stopped = 0, status = STATE(c)->drifted ? settle(STATE(c), &changed) : OK;
    memset(info, 0, sizeof *info);
    pass(STATE(c));
    if (choose_modes(STATE(c), &stopped) != OK) return say(c, ERROR, MODES);
    info->states_changed = changed || stopped;
    info->next_time_defined = next_switch(STATE(c), &info->next_time);
    return status == OK ? OK : say(c, ERROR, CLOSED);
}
API int F(fmi2EnterContinuousTimeMode)(void *c) { (void)c; return OK; }
API int F(fmi2CompletedIntegratorStep)(void *c, int no_set_before, int *enter_event_mode, int *terminate)
{
    Values *v = STATE(c);
    double settled[PLANT_NX];
    (void)no_set_before;
    v->drifted = PLANT_PROJECTS && !(drift(v, settled) <= v->tolerance);
    *enter_event_mode = v->drifted;
    *terminate = 0;
    return OK;
}
API int F(fmi2SetTime)(void *c, double t) { STATE(c)->t = t; STATE(c)->fresh = 0; return OK; }
API int F(fmi2SetContinuousStates)(void *c, const double *x, size_t n)
{
    if (n != PLANT_NX) return ERROR;
    memcpy(STATE(c)->x, x, n * sizeof *x);
    STATE(c)->fresh = 0;
    return OK;
}
API int F(fmi2GetContinuousStates)(void *c, double *x, size_t n)
{
    if (n != PLANT_NX) return ERROR;
    memcpy(x, STATE(c)->x, n * sizeof *x);
    return OK;
}
API int F(fmi2GetDerivatives)(void *c, double *dx, size_t n)
{
    if (n != PLANT_NX) return ERROR;
    refresh(STATE(c));
    memcpy(dx, STATE(c)->dx, n * sizeof *dx);
    return OK;
}
API int F(fmi2GetEventIndicators)(void *c, double *z, size_t n)
{
    if (n != PLANT_NG) return ERROR;
    indicators(STATE(c), z);
    return OK;
}
API int F(fmi2GetNominalsOfContinuousStates)(void *c, double *nominal, size_t n)
{
    size_t k;
    (void)c;
    for (k = 0; k < n; k++) nominal[k] = 1.0;
    return OK;
}

/* Co-simulation. */
API int F(fmi2DoStep)(void *c, double t, double h, int no_set_before)
{
    int status = advance(STATE(c), t, h);
    (void)no_set_before;
    return status == OK ? OK : say(c, status, status == DISCARD ? SHORT : CLOSED);
}
API int F(fmi2CancelStep)(void *c) { (void)c; return ERROR; }
API int F(fmi2SetRealInputDerivatives)(void *c, const unsigned *r, size_t n, const int *order, const double *values)
{
    (void)c; (void)r; (void)order; (void)values;
    return n ? ERROR : OK;
}
API int F(fmi2GetRealOutputDerivatives)(void *c, const unsigned *r, size_t n, const int *order, double *values)
{
    (void)c; (void)r; (void)order; (void)values;
    return n ? ERROR : OK;
}
API int F(fmi2GetStatus)(void *c, int kind, int *value) { (void)c; (void)kind; (void)value; return DISCARD; }
API int F(fmi2GetRealStatus)(void *c, int kind, double *value)
{
    if (kind != 2) return DISCARD;
    *value = STATE(c)->t; /* the last good time */
    return OK;
}
API int F(fmi2GetIntegerStatus)(void *c, int kind, int *value) { (void)c; (void)kind; (void)value; return DISCARD; }
API int F(fmi2GetBooleanStatus)(void *c, int kind, int *value)
{
    (void)c;
    if (kind != 3) return DISCARD;
    *value = 0;
    return OK;
}
API int F(fmi2GetStringStatus)(void *c, int kind, const char **value) { (void)c; (void)kind; (void)value; return DISCARD; }
