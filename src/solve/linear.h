/* linear.h (internal): the quadratic programs of support vector machines where the Gram is known by
 * a factor, K = D D^T: the same problems, results and certificate as mcr_qp_solve (smo.h), by
 * products with D.
 *
 * For epsilon = 0, one group (or no_sum), and finite bounds.
 *
 * The rows of a restricted Gram may be spread over several processes (base/team.h): each has z, the
 * bounds, b and g of its own rows; w and the result are the same in all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_SOLVE_LINEAR_H
#define MCR_SOLVE_LINEAR_H

#include "gram/factor.h"
#include "solve/smo.h"

/* b: a feasible start, then the solution; g (n): D D^T b at the end, from scratch; w (p): D^T b. */
typedef mcr_status mcr_linear_solver(mcr_gram *gram, const mcr_qp *problem, double *b, double *g,
                                     double *w, mcr_qp_result *result);

/* Takes the one of the solvers below that is less work. */
mcr_linear_solver mcr_linear_solve;
/* Few features: Newton's method on a smoothed hinge. MCR_STOP_STUCK where the tolerance is beyond
 * it; the violation is infinite, and b as it was or balanced, if no solution was evaluated. */
mcr_linear_solver mcr_linear_smooth;
/* Few features, tight tolerances: a primal-dual interior point method, one p x p factor a step. */
mcr_linear_solver mcr_linear_interior;
/* Many features, sparse rows: dual coordinate descent. */
mcr_linear_solver mcr_linear_descent;
/* What they cost, roughly, in multiply-adds of a scalar loop. */
double mcr_linear_newton_work(double n, double p, double entries);
double mcr_linear_descent_work(double n, double p, double entries);
/* Memory of a solution that must be left for it to take the way it takes alone. */
double mcr_linear_bytes(const mcr_gram *gram);

/* w = D^T b, g = D w and the violation, low and high of the result. */
mcr_status mcr_linear_evaluate(mcr_gram *gram, const mcr_qp *problem, const double *b, double *g,
                               double *w, mcr_qp_result *result);
/* The same with one pass over the rows of a restricted Gram, if w is D^T b but for rounding: then w
 * stays as it is, and g is D w; else it becomes D^T b. The violation is that of D D^T b, at most.
 * reach: length of a row, at most. */
mcr_status mcr_linear_evaluate_at(mcr_gram *gram, const mcr_qp *problem, const double *b,
                                  double reach, double *g, double *w, mcr_qp_result *result);
/* Makes the sum of b what it should be, by a small change of coefficients that are not at a bound
 * (of all, if these have not enough space). */
mcr_status mcr_linear_balance(mcr_gram *gram, const mcr_qp *problem, double wanted, double *b);
/* What is compared with the tolerance: the violation as evaluated, and what rounding may hide. */
double mcr_linear_worst(const mcr_qp_result *result);
/* Whether to end, by time or the user: then result->stop says so. If one of several processes does,
 * all do. */
mcr_status mcr_linear_is_over(mcr_gram *gram, const mcr_qp *problem, double began, double violation,
                              mcr_qp_result *result, bool *yes);

#endif
