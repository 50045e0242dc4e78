/* One step of RK4 with the inputs held, then back onto the constraints: for a fixed period, as in a real-time loop. */
static inline void PLANT_step(double t, double *x, const double *u, const double *p, double h)
{
    double k[4][PLANT_NX], y[PLANT_NX];
    int i;
    PLANT_derivative(t, x, u, p, k[0]);
    for (i = 0; i < PLANT_NX; i++) y[i] = x[i] + 0.5 * h * k[0][i];
    PLANT_derivative(t + 0.5 * h, y, u, p, k[1]);
    for (i = 0; i < PLANT_NX; i++) y[i] = x[i] + 0.5 * h * k[1][i];
    PLANT_derivative(t + 0.5 * h, y, u, p, k[2]);
    for (i = 0; i < PLANT_NX; i++) y[i] = x[i] + h * k[2][i];
    PLANT_derivative(t + h, y, u, p, k[3]);
    for (i = 0; i < PLANT_NX; i++) x[i] += h / 6.0 * (k[0][i] + 2.0 * (k[1][i] + k[2][i]) + k[3][i]);
    PLANT_project(t + h, x, u, p, x);
}

/* One step of Dormand and Prince's pair 5(4). k[0] is given, k[6] is the derivative at the end; returns the error beside the tolerance. */
static inline double PLANT_pair(double t, const double *x, const double *u, const double *p, double h, double tolerance,
                                double k[7][PLANT_NX], double *y)
{
    static const double c[7] = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0};
    static const double a[7][6] = {
        {0.0},
        {1.0 / 5},
        {3.0 / 40, 9.0 / 40},
        {44.0 / 45, -56.0 / 15, 32.0 / 9},
        {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
        {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
        {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
    static const double e[7] = {71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
    double worst = 0.0;
    int i, j, s;
    for (s = 1; s < 7; s++) {
        for (i = 0; i < PLANT_NX; i++) {
            double sum = 0.0;
            for (j = 0; j < s; j++) sum += a[s][j] * k[j][i];
            y[i] = x[i] + h * sum;
        }
        PLANT_derivative(t + c[s] * h, y, u, p, k[s]);
    }
    for (i = 0; i < PLANT_NX; i++) {
        double sum = 0.0, size = 1.0 + fmax(fabs(x[i]), fabs(y[i])), here;
        for (s = 0; s < 7; s++) sum += e[s] * k[s][i];
        here = fabs(h * sum) / (tolerance * size);
        if (worst == worst && !(here <= worst)) worst = here; /* also where it is not a number */
    }
    return worst;
}

#ifdef PLANT_STICKS
/* Whether a mode of dry friction has ended. */
static inline int PLANT_ended(double t, const double *x, const double *u, const double *p)
{
    double z[PLANT_NG];
    int i;
    PLANT_guards(t, x, u, p, z);
    for (i = 0; i < PLANT_NG; i++)
        if (z[i] < 0.0) return 1;
    return 0;
}

/* The longest of a step of `now` s in which no mode ends, by bisection; y becomes the state just after it. k[0] is given. */
static inline double PLANT_until_ended(double t, const double *x, const double *u, const double *p, double now, double tolerance,
                                       double k[7][PLANT_NX], double *y)
{
    double low = 0.0, high = now;
    int n;
    for (n = 0; n < 100 && high - low > 1e-15 * fmax(fabs(t), 1e-3); n++) {
        double middle = 0.5 * (low + high);
        PLANT_pair(t, x, u, p, middle, tolerance, k, y);
        if (PLANT_ended(t + middle, y, u, p)) high = middle;
        else low = middle;
    }
    PLANT_pair(t, x, u, p, high, tolerance, k, y);
    return high;
}
#endif

/* From *t to `until` with the inputs held: steps chosen by the tolerance (relative and absolute), each put back onto the
 * constraints. *h is the step to begin with, 0: a guess; it is kept for the next call. Returns 0, or 1 where no step is short
 * enough: *t and x are then the last good ones; or 2 where a mode of dry friction has ended at *t. */
static inline int PLANT_advance(double *t, double *x, const double *u, const double *p, double until, double tolerance, double *h)
{
    double k[7][PLANT_NX], y[PLANT_NX];
    int i;
    if (!(*h > 0.0)) *h = fmin(1e-3, until - *t);
    PLANT_derivative(*t, x, u, p, k[0]);
    while (*t < until) {
        double left = until - *t, now = fmin(*h, left), error, grown;
        int last = now >= left * (1.0 - 1e-12);
        if (last) now = left;
        error = PLANT_pair(*t, x, u, p, now, tolerance, k, y);
        if (!(error <= 1.0)) {
            *h = now * (error < 1e9 ? fmax(0.2, 0.9 * pow(error, -0.2)) : 0.1);
            if (*t + *h == *t) return 1;
            continue;
        }
#ifdef PLANT_STICKS
        if (PLANT_ended(*t + now, y, u, p)) {
            *t += PLANT_until_ended(*t, x, u, p, now, tolerance, k, y);
            PLANT_project(*t, y, u, p, x);
            return 2;
        }
#endif
        grown = now * (error > 0.0 ? fmin(5.0, 0.9 * pow(error, -0.2)) : 5.0);
        *h = last ? fmax(*h, grown) : grown;
        *t = last ? until : *t + now;
        if (PLANT_PROJECTS) {
            PLANT_project(*t, y, u, p, x);
            PLANT_derivative(*t, x, u, p, k[0]);
        } else {
            for (i = 0; i < PLANT_NX; i++) {
                x[i] = y[i];
                k[0][i] = k[6][i];
            }
        }
    }
    return 0;
}
