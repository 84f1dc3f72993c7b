"""Which classes there are, and what scikit-learn calls the parameters of the library's learners.

Everything that is not said here (further options, their defaults and what they mean) comes from the
tables of the library, through generate.py.

SPDX-License-Identifier: Apache-2.0
"""


class P:
    """A parameter: its name and default, the option of the learner that it sets (None: Python code
    uses it), its type and, unless the table has it, what it means."""

    def __init__(self, name, default, option=None, kind=None, about=None):
        self.name, self.default, self.option = name, default, option
        self.kind, self.about = kind, about


def kernel(default, gamma="scale", coef0=0.0, params=False):
    """The parameters of a kernel."""
    found = [
        P("kernel", default, None, "KernelLike",
          "One of scikit-learn's words (\"linear\", \"rbf\", \"poly\", \"sigmoid\", \"laplacian\", "
          "\"cosine\", \"chi2\", \"precomputed\"), a Mercer expression such as "
          "``\"rbf(gamma=0.1) + linear\"``, a `mercer.Kernel`, or a function."),
        P("degree", 3, None, "int", "Degree of the word \"poly\"."),
        P("gamma", gamma, None, "Any",
          "Coefficient of the words \"rbf\", \"poly\", \"sigmoid\", \"laplacian\" and \"chi2\": a number, "
          + ("\"scale\" (1 / (n_features * X.var())) or \"auto\" (1 / n_features)." if gamma == "scale"
             else "or None (1 / n_features).")),
        P("coef0", coef0, None, "float", "Constant of the words \"poly\" and \"sigmoid\"."),
    ]
    if params:
        found.append(P("kernel_params", None, None, "dict[str, Any] | None",
                       "Further arguments of a kernel that is a function."))
    return found


VERBOSE = P("verbose", False, None, "Any", "Whether to show a progress bar.")
SEED = P("random_state", None, None, "Any", "Seed of everything that is random; None is a fixed one.")
JOBS = P("n_jobs", None, None, "int | None", "Threads; None and -1 are all cores.")
INTERRUPT = P("on_interrupt", "raise", None, "str",
              "What Ctrl-C does: \"raise\" KeyboardInterrupt, or \"keep\" the best model so far.")
ROLES = P("roles", None, None, "dict[str, str] | None",
          "Roles of columns of a DataFrame where the guess is wrong: ``{\"zip\": \"category\"}``; roles are "
          "\"number\", \"category\", \"date\", \"text\", \"set\", \"id\" and \"ignore\".")
MISSING = P("missing", None, None, "str | None",
            "What becomes of missing values: \"median\", \"mean\", \"mode\", \"indicator\" (the median, and a "
            "column that says where) or \"error\". None: \"indicator\" in tables that have more than numbers, "
            "else \"error\".")
TOL = P("tol", 1e-3, "tol", "float")
STEPS = P("max_iter", -1, "max-steps", "int", "Most steps; -1: no limit.")
WEIGHTS = P("class_weight", None, None, "Any", "Weights of classes: a dict, or \"balanced\".")
IGNORED = "Accepted so that code for scikit-learn runs; it changes nothing."

SVC_TAIL = [
    P("decision_function_shape", "ovr", None, "str",
      "Of more than two classes: \"ovr\", one value for each class, or \"ovo\", one for each pair."),
    P("break_ties", False, None, "bool",
      "Of more than two classes: ties of votes are broken by the decision values."),
    SEED,
]

CLASSES = [
    dict(name="SVC", learner="svm", base="SupportClassifier", module="_tasks",
         params=[P("C", 1.0, "C", "float")] + kernel("rbf") + [
             P("shrinking", True, None, "bool", IGNORED), P("probability", False, "probability", "bool"), TOL,
             P("cache_size", 200, "cache", "float"), WEIGHTS, VERBOSE, STEPS] + SVC_TAIL,
         skip=["lambda"],
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SVC(C=10).fit(X, y)
    >>> round(clf.score(X, y), 2)
    0.99
    >>> clf.stop_, clf.certificate_["kind"]
    ('optimal', 'KKT violation')"""),
    dict(name="NuSVC", learner="nu-svm", base="NuClassifier", module="_tasks",
         params=[P("nu", 0.5, "nu", "float")] + kernel("rbf") + [
             P("shrinking", True, None, "bool", IGNORED), P("probability", False, "probability", "bool"), TOL,
             P("cache_size", 200, "cache", "float"), WEIGHTS, VERBOSE, STEPS] + SVC_TAIL,
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> NuSVC(nu=0.1).fit(X, y).score(X, y) > 0.95
    True"""),
    dict(name="SVR", learner="svr", base="SupportRegressor", module="_tasks",
         params=kernel("rbf") + [TOL, P("C", 1.0, "C", "float"), P("epsilon", 0.1, "epsilon", "float"),
                                 P("shrinking", True, None, "bool", IGNORED),
                                 P("cache_size", 200, "cache", "float"), VERBOSE, STEPS],
         skip=["lambda"],
         example="""
    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> SVR(C=10).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.95
    True"""),
    dict(name="NuSVR", learner="nu-svr", base="SupportRegressor", module="_tasks",
         params=[P("nu", 0.5, "nu", "float"), P("C", 1.0, "C", "float")] + kernel("rbf") + [
             P("shrinking", True, None, "bool", IGNORED), TOL, P("cache_size", 200, "cache", "float"),
             VERBOSE, STEPS],
         example="""
    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> NuSVR(C=10).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.95
    True"""),
    dict(name="OneClassSVM", learner="one-class", base="Detector", module="_tasks",
         params=kernel("rbf") + [TOL, P("nu", 0.5, "nu", "float"), P("shrinking", True, None, "bool", IGNORED),
                                 P("cache_size", 200, "cache", "float"), VERBOSE, STEPS],
         example="""
    >>> import numpy as np
    >>> from mercer import OneClassSVM
    >>> X = np.random.RandomState(0).randn(100, 2)
    >>> OneClassSVM(nu=0.1).fit(X).predict([[0, 0], [9, 9]])
    array([ 1, -1])"""),
    dict(name="KernelRidge", learner="ridge", base="RidgeRegressor", module="_tasks", positional=1,
         params=[P("alpha", 1.0, "lambda", "float", "Weight of the penalty.")]
         + kernel("linear", None, 1.0, True), fixed={"task": "regress"},
         skip=["task", "class-weight", "tol"],
         example="""
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> KernelRidge(alpha=0.01, kernel="rbf").fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.99
    True"""),
    dict(name="RidgeClassifier", learner="ridge", base="ClassifierBase", module="_tasks", positional=1,
         params=[P("alpha", 1.0, "lambda", "float", "Weight of the penalty.")]
         + kernel("linear + 1", "scale", 1.0) + [WEIGHTS], fixed={"task": "classify"},
         skip=["task", "class-weight", "tol"],
         note="The kernel has the constant 1 in place of scikit-learn's intercept, which has no penalty.",
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> RidgeClassifier(kernel="rbf").fit(X, y).score(X, y) > 0.9
    True"""),
    dict(name="KernelPCA", learner="pca", base="Projector", module="_transformers", positional=1,
         params=[P("n_components", None, None, "int | None", "How many components; None: all that are not zero.")]
         + kernel("linear", None, 1.0, True) + [
             P("alpha", 1.0, None, "float", "Penalty of the ridge regression of inverse_transform."),
             P("fit_inverse_transform", False, None, "bool", "Whether inverse_transform is wanted."),
             P("eigen_solver", "auto", None, "str", IGNORED), P("tol", 0, "tol", "float"),
             P("max_iter", None, "max-steps", "int | None", "Most steps."),
             P("remove_zero_eig", False, None, "bool", "Whether components without variance are left out."),
             SEED], skip=["components"],
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelPCA
    >>> X, _ = load_iris(return_X_y=True)
    >>> KernelPCA(2, kernel="rbf", gamma=0.1).fit_transform(X).shape
    (150, 2)"""),
    dict(name="GaussianProcessRegressor", learner="gp", base="GaussianRegressor", module="_gaussian",
         positional=1,
         params=[P("kernel", None, None, "KernelLike",
                   "A Mercer expression, a `mercer.Kernel`, a kernel of sklearn.gaussian_process, or None: rbf "
                   "with gamma = 1 / (n_features * X.var()) to begin with."),
                 P("alpha", 0.1, "noise", "float",
                   "Variance of the noise in the targets. With an optimizer, where its search begins."),
                 P("optimizer", "likelihood", None, "str | None",
                   "None: kernel and noise stay as they are; anything else: their scales are those of the "
                   "largest marginal likelihood."),
                 P("n_restarts_optimizer", 2, None, "int", "Searches from random values, after the first."),
                 P("normalize_y", True, "standardize", "bool"),
                 SEED], fixed={"task": "regress"}, skip=["task", "optimize", "restarts"],
         note="Unlike scikit-learn's, the default kernel has free scales, and the noise is one of them.",
         example="""
    >>> import numpy as np
    >>> from mercer import GaussianProcessRegressor
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> gp = GaussianProcessRegressor().fit(X, np.sin(X[:, 0]))
    >>> mean, std = gp.predict(X, return_std=True)
    >>> bool(abs(mean - np.sin(X[:, 0])).max() < 0.01)
    True"""),
    dict(name="GaussianProcessClassifier", learner="gp", base="GaussianClassifier", module="_gaussian",
         positional=1,
         params=[P("kernel", None, None, "KernelLike",
                   "A Mercer expression, a `mercer.Kernel`, a kernel of sklearn.gaussian_process, or None: rbf "
                   "with gamma = 1 / (n_features * X.var()) to begin with."),
                 P("optimizer", "likelihood", None, "str | None",
                   "None: the kernel stays as it is; anything else: its scales are those of the largest "
                   "marginal likelihood."),
                 P("n_restarts_optimizer", 0, None, "int", "Searches from random values, after the first."),
                 SEED], fixed={"task": "classify"},
         skip=["task", "optimize", "restarts", "noise", "standardize", "loo"],
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import GaussianProcessClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> GaussianProcessClassifier().fit(X, y).score(X, y) > 0.95
    True"""),
    dict(name="KernelKMeans", learner="kmeans", base="Clusterer", module="_transformers", positional=1,
         params=[P("n_clusters", 8, "clusters", "int")] + kernel("rbf") + [
             P("n_init", 10, "restarts", "int"), P("max_iter", 300, "max-steps", "int"),
             P("tol", 1e-6, "tol", "float"), VERBOSE, SEED],
         example="""
    >>> import numpy as np
    >>> from mercer import KernelKMeans
    >>> X = np.r_[np.zeros((5, 2)), np.ones((5, 2))]
    >>> labels = KernelKMeans(2).fit_predict(X)
    >>> len(set(labels[:5])), len(set(labels))
    (1, 2)"""),
    dict(name="KernelLogisticRegression", learner="logistic", base="LogisticBase", module="_estimator_bases",
         params=[P("C", 1.0, None, "float", "Weight of the losses: 1 / (2 lambda), of two classes 1 / lambda.")]
         + kernel("rbf") + [P("tol", 1e-6, "tol", "float"), WEIGHTS, VERBOSE, STEPS],
         skip=["lambda"],
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelLogisticRegression(C=10).fit(X, y).predict_proba(X).shape
    (150, 3)"""),
    dict(name="KernelPerceptron", learner="perceptron", base="OnlineClassifier", module="_estimator_bases",
         params=kernel("rbf") + [P("max_iter", 10, "passes", "int"), P("shuffle", False, None, "bool",
                                                                      "Whether objects are shuffled for each pass."),
                                 WEIGHTS, SEED], skip=["order"],
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelPerceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelPerceptron(max_iter=500, variant="averaged").fit(X, y).score(X, y) > 0.9
    True"""),
    dict(name="Pegasos", learner="pegasos", base="ShuffledClassifier", module="_estimator_bases",
         params=[P("C", 1.0, "C", "float")] + kernel("rbf") + [
             P("max_iter", 1000, "passes", "int"), P("tol", 0.05, "tol", "float"), WEIGHTS, SEED],
         skip=["lambda"],
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import Pegasos
    >>> X, y = load_iris(return_X_y=True)
    >>> Pegasos().fit(X, y).score(X, y) > 0.9
    True"""),
    dict(name="KernelFisher", learner="fisher", base="Discriminant", module="_transformers",
         params=[P("n_components", None, "components", "int | None")] + kernel("rbf")
         + [P("alpha", 1e-3, "lambda", "float")],
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelFisher
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelFisher().fit(X, y).transform(X).shape
    (150, 2)"""),
    dict(name="KernelCCA", learner="cca", base="Correlator", module="_transformers", positional=1,
         params=[P("n_components", 2, None, "int", "Pairs of coordinates.")] + kernel("rbf", None, 1.0) + [
             P("kernel2", None, None, "KernelLike", "The kernel of Y; None: that of X."),
             P("alpha", 0.1, "lambda", "float"), P("tol", 0, "tol", "float")],
         skip=["components"],
         example="""
    >>> import numpy as np
    >>> from mercer import KernelCCA
    >>> X = np.random.RandomState(0).randn(60, 3)
    >>> cca = KernelCCA(1, kernel="linear").fit(X, X[:, :2])
    >>> bool(cca.correlations_[0] > 0.9)
    True"""),
    dict(name="KNeighborsClassifier", learner="knn", base="NeighborsClassifier", module="_estimator_bases",
         positional=1, params=[P("n_neighbors", 5, "neighbors", "int"), P("weights", "uniform", "vote", "str")]
         + kernel("linear") + [WEIGHTS], fixed={"task": "classify"}, skip=["task", "class-weight"],
         note="Distances are those of the feature space: with the kernel \"linear\" Euclidean ones.",
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> KNeighborsClassifier(3).fit(X, y).score(X, y) > 0.95
    True"""),
    dict(name="KNeighborsRegressor", learner="knn", base="NeighborsRegressor", module="_estimator_bases",
         positional=1, params=[P("n_neighbors", 5, "neighbors", "int"), P("weights", "uniform", "vote", "str")]
         + kernel("linear"), fixed={"task": "regress"}, skip=["task", "class-weight"],
         note="Distances are those of the feature space: with the kernel \"linear\" Euclidean ones.",
         example="""
    >>> import numpy as np
    >>> from mercer import KNeighborsRegressor
    >>> KNeighborsRegressor(1).fit([[0.0], [1.0]], [0.0, 1.0]).predict([[0.9]])
    array([1.])"""),
    dict(name="ERM", learner="erm", base="AnyLoss", module="_estimator_bases",
         params=[P("loss", "squared", None, "str",
                   "What an error costs: \"hinge\", \"squared-hinge\" or \"logistic\" for classes; \"squared\", "
                   "\"epsilon\", \"absolute\", \"huber\" or \"quantile\" for numbers."),
                 P("alpha", 0.5, "lambda", "float")] + kernel("rbf") + [
             P("epsilon", 0.1, "epsilon", "float"), P("delta", 1.0, "delta", "float"),
             P("quantile", 0.5, "quantile", "float"), P("tol", 1e-6, "tol", "float"), WEIGHTS, VERBOSE, STEPS],
         skip=["loss", "task"],
         note="The loss decides whether it is a classifier or a regressor.",
         example="""
    >>> import numpy as np
    >>> from mercer import ERM
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> high = ERM(loss="quantile", quantile=0.9, alpha=0.01).fit(X, np.sin(X[:, 0]))
    >>> high.predict(X).shape
    (50,)"""),
    dict(name="Nystroem", learner=None, base="LandmarkFeatures", module="_transformers", positional=1,
         summary="Nystroem: features from the kernel values against some of the objects",
         params=kernel("rbf", None, 1.0, True) + [
             P("n_components", 100, None, "int", "Number of landmarks."), SEED],
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import Nystroem
    >>> X, _ = load_iris(return_X_y=True)
    >>> Nystroem(n_components=10, random_state=0).fit_transform(X).shape
    (150, 10)"""),
    dict(name="RFF", learner=None, base="FourierFeatures", module="_transformers",
         summary="Random Fourier features: cosines and sines whose inner products are near an rbf, laplace or "
                 "matern kernel",
         params=kernel("rbf") + [P("n_components", 100, None, "int", "Number of features, an even number."), SEED],
         example="""
    >>> from sklearn.datasets import load_iris
    >>> from mercer import RFF
    >>> X, _ = load_iris(return_X_y=True)
    >>> RFF(gamma=1.0, n_components=10).fit_transform(X).shape
    (150, 10)"""),
]
