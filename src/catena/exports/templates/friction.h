/* Dry friction of joints that stick and slip. The modes of a joint are four numbers behind the inputs: held (1 or 0), the sign of the
 * speed with which it slips, and the least and the largest force that holds it. */
static const char MODES[] = "no forces of dry friction were found: those that act at one instant contradict each other";

#ifdef PLANT_STICKS
/* The event indicators: a mode ends where one of them falls below zero. */
static void indicators(const Values *v, double *z) { PLANT_guards(seen(v), v->x, v->u, v->p, z); }

/* Solve the rows and columns of W that are free for x, W x = b, by Gaussian elimination; what is not free stays. W is positive definite,
 * with a shift that gives dependent rows a force. */
static void solve_free(const double *W, const double *b, const int *free, double *x)
{
    double A[PLANT_NK][PLANT_NK + 1];
    int at[PLANT_NK], n = 0, i, j, k;
    for (i = 0; i < PLANT_NK; i++)
        if (free[i]) at[n++] = i;
    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++) A[i][j] = W[at[i] * PLANT_NK + at[j]] * (i == j ? 1.0 + 1e-13 : 1.0);
        A[i][n] = b[at[i]];
    }
    for (k = 0; k < n; k++)
        for (i = k + 1; i < n; i++) {
            double part = A[i][k] / A[k][k];
            for (j = k; j <= n; j++) A[i][j] -= part * A[k][j];
        }
    for (k = n - 1; k >= 0; k--) {
        double sum = A[k][n];
        for (j = k + 1; j < n; j++) sum -= A[k][j] * x[at[j]];
        x[at[k]] = sum / A[k][k];
    }
}

/* Forces between -limit and limit of the joints in `rest`, with a + W x = 0 between the limits; block principal pivoting. side: 0 between
 * them, -1 and 1 at either. OK, or ERROR where none are found. */
static int boxed_forces(const double *W, const double *a, const double *limit, const double *slack, const int *rest, int *side)
{
    double x[PLANT_NK];
    int fewest = PLANT_NK + 1, tries = 3, n, i, j;
    for (i = 0; i < PLANT_NK; i++) side[i] = 0;
    for (n = 0; n < 20 * PLANT_NK + 20; n++) {
        double b[PLANT_NK], found[PLANT_NK];
        int free[PLANT_NK], wrong[PLANT_NK], count = 0, last = 0;
        for (i = 0; i < PLANT_NK; i++) {
            free[i] = rest[i] && side[i] == 0;
            x[i] = rest[i] ? side[i] * limit[i] : 0.0;
        }
        for (j = 0; j < 2; j++) { /* the second time refines */
            for (i = 0; i < PLANT_NK; i++) {
                int k;
                b[i] = -a[i];
                for (k = 0; k < PLANT_NK; k++) b[i] -= W[i * PLANT_NK + k] * x[k];
            }
            solve_free(W, b, free, found);
            for (i = 0; i < PLANT_NK; i++)
                if (free[i]) x[i] += found[i];
        }
        for (i = 0; i < PLANT_NK; i++) {
            double now = a[i];
            for (j = 0; j < PLANT_NK; j++) now += W[i * PLANT_NK + j] * x[j];
            wrong[i] = rest[i] && (free[i] ? fabs(x[i]) - limit[i] : side[i] * now / W[i * PLANT_NK + i]) > slack[i];
            if (wrong[i]) last = i;
            count += wrong[i];
        }
        if (count == 0) return OK;
        if (count < fewest) {
            fewest = count;
            tries = 3;
        } else if (tries-- <= 0) /* one at a time: this ends */
            for (i = 0; i < PLANT_NK; i++) wrong[i] = i == last;
        for (i = 0; i < PLANT_NK; i++)
            if (wrong[i]) side[i] = free[i] ? (x[i] > 0.0 ? 1 : -1) : 0;
    }
    return ERROR;
}

/* Choose which joints stick and which way the others slip. A joint that has turned round, or that was held, is at rest; so is one whose
 * speed is negligible beside the largest kinetic energy so far. OK, or ERROR; changed: whether a speed was set to zero. */
static int choose_modes(Values *v, int *changed)
{
    enum { K = PLANT_NK, A = K * K, INERTIA = A + K, LIMIT = INERTIA + K, SIZE = LIMIT + K, ENERGY = SIZE + 1 };
    double r[ENERGY + 1], slack[K], half[K], *mode = v->u + PLANT_NU;
    int rest[K], side[K], k;
    *changed = 0;
    PLANT_response(seen(v), v->x, v->u, v->p, r);
    v->energy = fmax(v->energy, r[ENERGY]);
    for (k = 0; k < K; k++) {
        double *speed = v->x + PLANT_speeds[k], *m = mode + 4 * k;
        rest[k] = *speed == 0.0 || r[INERTIA + k] * *speed * *speed <= 1e-28 * v->energy;
        if (!v->placed && (m[0] > 0.5 || m[1] * *speed <= 0.0)) rest[k] = 1;
        if (rest[k] && *speed != 0.0) {
            *speed = 0.0;
            *changed = 1;
        }
        m[0] = 0.0;
        m[1] = rest[k] ? 0.0 : (*speed > 0.0 ? 1.0 : -1.0);
        m[2] = -r[LIMIT + k];
        m[3] = r[LIMIT + k];
    }
    v->placed = v->fresh = 0;
    PLANT_response(seen(v), v->x, v->u, v->p, r);
    for (k = 0; k < K; k++) {
        slack[k] = 1e-10 * (r[LIMIT + k] + sqrt(r[INERTIA + k] * fmax(r[SIZE], 0.0)));
        half[k] = 0.5 * slack[k];
    }
    if (boxed_forces(r, r + A, r + LIMIT, half, rest, side) != OK) return ERROR;
    for (k = 0; k < K; k++) {
        double *m = mode + 4 * k;
        if (!rest[k]) continue;
        m[0] = side[k] == 0;
        m[1] = -side[k];
        m[2] -= slack[k];
        m[3] += slack[k];
    }
    return OK;
}
#else
static void indicators(const Values *v, double *z) { (void)v; (void)z; }
static int choose_modes(Values *v, int *changed) { (void)v; *changed = 0; return OK; }
#endif
