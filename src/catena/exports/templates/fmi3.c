/* The functions of FMI 3.0 (https://fmi-standard.org) for PLANT_TITLE. */
#include <stdbool.h>
#include <stdint.h>

#include "PLANT_HEADER"
#include "instance.h"

#ifdef FMI3_FUNCTION_PREFIX /* for linking several models into one program */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define F(name) JOIN(FMI3_FUNCTION_PREFIX, name)
#else
#define F(name) name
#endif

typedef void (*Logger)(void *environment, int status, const char *category, const char *message);

static int say(void *c, int status, const char *text)
{
    Instance *i = (Instance *)c;
    if (i->log != NULL) ((Logger)i->log)(i->environment, status, "logStatusError", text);
    return status;
}

API const char *F(fmi3GetVersion)(void) { return "3.0"; }
API int F(fmi3SetDebugLogging)(void *c, bool on, size_t n, const char *const *names) { (void)c; (void)on; (void)n; (void)names; return OK; }

static void *made(const char *name, const char *token, int kind, void *environment, Logger log)
{
    Instance *i = make_instance(name, token, kind);
    if (i != NULL) {
        i->log = (void (*)(void))log;
        i->environment = environment;
    }
    return i;
}
API void *F(fmi3InstantiateModelExchange)(const char *name, const char *token, const char *resources, bool visible, bool logging,
                                          void *environment, Logger log)
{
    (void)resources; (void)visible; (void)logging;
    return made(name, token, MODEL_EXCHANGE, environment, log);
}
API void *F(fmi3InstantiateCoSimulation)(const char *name, const char *token, const char *resources, bool visible, bool logging,
                                         bool event_mode, bool early_return, const unsigned *between, size_t n_between,
                                         void *environment, Logger log, void (*update)(void))
{
    (void)resources; (void)visible; (void)logging; (void)event_mode; (void)early_return; (void)between; (void)n_between; (void)update;
    return made(name, token, CO_SIMULATION, environment, log);
}
API void *F(fmi3InstantiateScheduledExecution)(void) { return NULL; }
API void F(fmi3FreeInstance)(void *c) { free(c); }

API int F(fmi3EnterInitializationMode)(void *c, bool with_tolerance, double tolerance, double start, bool with_stop, double stop)
{
    Values *v = STATE(c);
    (void)with_stop; (void)stop;
    v->t = v->start = start;
    pass(v);
    if (with_tolerance && tolerance > 0.0) v->tolerance = tolerance;
    v->fresh = 0;
    return OK;
}
API int F(fmi3ExitInitializationMode)(void *c)
{
    int changed;
    if (STATE(c)->kind == MODEL_EXCHANGE) return OK; /* there the event mode that follows does it */
    if (settle(STATE(c), &changed) != OK) return say(c, ERROR, CLOSED);
    return choose_modes(STATE(c), &changed) == OK ? OK : say(c, ERROR, MODES);
}
#define NOTHING(name) API int F(name)(void *c) { (void)c; return OK; }
NOTHING(fmi3EnterEventMode)
NOTHING(fmi3EnterStepMode)
NOTHING(fmi3EnterContinuousTimeMode)
NOTHING(fmi3EnterConfigurationMode)
NOTHING(fmi3ExitConfigurationMode)
NOTHING(fmi3EvaluateDiscreteStates)
NOTHING(fmi3Terminate)
API int F(fmi3Reset)(void *c) { put_start(STATE(c)); return OK; }

API int F(fmi3GetFloat64)(void *c, const unsigned *r, size_t n, double *values, size_t n_values)
{
    size_t k;
    if (n != n_values) return say(c, ERROR, "fmi3GetFloat64: every variable is one number");
    for (k = 0; k < n; k++)
        if (get_value(STATE(c), r[k], values + k) != OK) return say(c, ERROR, "fmi3GetFloat64: there is no such variable");
    return OK;
}
API int F(fmi3SetFloat64)(void *c, const unsigned *r, size_t n, const double *values, size_t n_values)
{
    size_t k;
    if (n != n_values) return say(c, ERROR, "fmi3SetFloat64: every variable is one number");
    for (k = 0; k < n; k++)
        if (set_value(STATE(c), r[k], values[k]) != OK)
            return say(c, ERROR, "fmi3SetFloat64: only states, inputs and parameters can be set");
    return OK;
}
/* There are no variables of other types, and no clocks. */
#define NONE(name) API int F(name)(void *c, const unsigned *r, size_t n) { (void)c; (void)r; return n ? ERROR : OK; }
NONE(fmi3GetFloat32) NONE(fmi3GetInt8) NONE(fmi3GetUInt8) NONE(fmi3GetInt16) NONE(fmi3GetUInt16) NONE(fmi3GetInt32)
NONE(fmi3GetUInt32) NONE(fmi3GetInt64) NONE(fmi3GetUInt64) NONE(fmi3GetBoolean) NONE(fmi3GetString) NONE(fmi3GetBinary)
NONE(fmi3GetClock) NONE(fmi3SetFloat32) NONE(fmi3SetInt8) NONE(fmi3SetUInt8) NONE(fmi3SetInt16) NONE(fmi3SetUInt16)
NONE(fmi3SetInt32) NONE(fmi3SetUInt32) NONE(fmi3SetInt64) NONE(fmi3SetUInt64) NONE(fmi3SetBoolean) NONE(fmi3SetString)
NONE(fmi3SetBinary) NONE(fmi3SetClock) NONE(fmi3GetIntervalDecimal) NONE(fmi3GetIntervalFraction) NONE(fmi3GetShiftDecimal)
NONE(fmi3GetShiftFraction) NONE(fmi3SetIntervalDecimal) NONE(fmi3SetIntervalFraction) NONE(fmi3SetShiftDecimal)
NONE(fmi3SetShiftFraction) NONE(fmi3GetOutputDerivatives) NONE(fmi3GetAdjointDerivative)
#define REFUSED(name) API int F(name)(void) { return ERROR; }
REFUSED(fmi3GetNumberOfVariableDependencies) REFUSED(fmi3GetVariableDependencies) REFUSED(fmi3ActivateModelPartition)

API int F(fmi3GetFMUState)(void *c, void **state) { return copy_values((Instance *)c, state); }
API int F(fmi3SetFMUState)(void *c, void *state) { memcpy(STATE(c), state, sizeof(Values)); return OK; }
API int F(fmi3FreeFMUState)(void *c, void **state) { (void)c; free(*state); *state = NULL; return OK; }
API int F(fmi3SerializedFMUStateSize)(void *c, void *state, size_t *size) { (void)c; (void)state; *size = sizeof(Values); return OK; }
API int F(fmi3SerializeFMUState)(void *c, void *state, uint8_t *bytes, size_t size)
{
    (void)c;
    if (size < sizeof(Values)) return ERROR;
    memcpy(bytes, state, sizeof(Values));
    return OK;
}
API int F(fmi3DeserializeFMUState)(void *c, const uint8_t *bytes, size_t size, void **state)
{
    if (size != sizeof(Values) || copy_values((Instance *)c, state) != OK) return ERROR;
    memcpy(*state, bytes, size);
    return OK;
}
API int F(fmi3GetDirectionalDerivative)(void *c, const unsigned *unknown, size_t n_unknown, const unsigned *known, size_t n_known,
                                        const double *seed, size_t n_seed, double *found, size_t n_found)
{
    if (n_seed == n_known && n_found == n_unknown && directional(STATE(c), unknown, n_unknown, known, n_known, seed, found) == OK) return OK;
    return say(c, ERROR, "fmi3GetDirectionalDerivative: unknowns are derivatives and outputs, knowns states, inputs and parameters");
}

/* Model exchange. */
API int F(fmi3UpdateDiscreteStates)(void *c, bool *again, bool *terminate, bool *nominals_changed, bool *states_changed,
                                    bool *next_time_defined, double *next_time)
{
    int changed = 0, stopped = 0, status = STATE(c)->drifted ? settle(STATE(c), &changed) : OK;
    *again = *terminate = *nominals_changed = false;
    pass(STATE(c));
    if (choose_modes(STATE(c), &stopped) != OK) return say(c, ERROR, MODES);
    *states_changed = changed || stopped;
    *next_time_defined = next_switch(STATE(c), next_time) != 0;
    return status == OK ? OK : say(c, ERROR, CLOSED);
}
API int F(fmi3CompletedIntegratorStep)(void *c, bool no_set_before, bool *enter_event_mode, bool *terminate)
{
    Values *v = STATE(c);
    double settled[PLANT_NX];
    (void)no_set_before;
    v->drifted = PLANT_PROJECTS && !(drift(v, settled) <= v->tolerance);
    *enter_event_mode = v->drifted != 0;
    *terminate = false;
    return OK;
}
API int F(fmi3SetTime)(void *c, double t) { STATE(c)->t = t; STATE(c)->fresh = 0; return OK; }
API int F(fmi3SetContinuousStates)(void *c, const double *x, size_t n)
{
    if (n != PLANT_NX) return ERROR;
    memcpy(STATE(c)->x, x, n * sizeof *x);
    STATE(c)->fresh = 0;
    return OK;
}
API int F(fmi3GetContinuousStates)(void *c, double *x, size_t n)
{
    if (n != PLANT_NX) return ERROR;
    memcpy(x, STATE(c)->x, n * sizeof *x);
    return OK;
}
API int F(fmi3GetContinuousStateDerivatives)(void *c, double *dx, size_t n)
{
    if (n != PLANT_NX) return ERROR;
    refresh(STATE(c));
    memcpy(dx, STATE(c)->dx, n * sizeof *dx);
    return OK;
}
API int F(fmi3GetNominalsOfContinuousStates)(void *c, double *nominal, size_t n)
{
    size_t k;
    (void)c;
    for (k = 0; k < n; k++) nominal[k] = 1.0;
    return OK;
}
API int F(fmi3GetEventIndicators)(void *c, double *z, size_t n)
{
    if (n != PLANT_NG) return ERROR;
    indicators(STATE(c), z);
    return OK;
}
API int F(fmi3GetNumberOfEventIndicators)(void *c, size_t *n) { (void)c; *n = PLANT_NG; return OK; }
API int F(fmi3GetNumberOfContinuousStates)(void *c, size_t *n) { (void)c; *n = PLANT_NX; return OK; }

/* Co-simulation. */
API int F(fmi3DoStep)(void *c, double t, double h, bool no_set_before, bool *event_needed, bool *terminate, bool *early, double *last)
{
    int status = advance(STATE(c), t, h);
    (void)no_set_before;
    *event_needed = *terminate = *early = false;
    *last = STATE(c)->t;
    return status == OK ? OK : say(c, status, status == DISCARD ? SHORT : CLOSED);
}
