"""libsvm.py: LIBSVM's interface through ctypes, from any library that has it.

Library(path, abi) loads one; several may be loaded at once. Problem, Parameter and Model keep alive what the
library points to.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_double, c_int

C_SVC, NU_SVC, ONE_CLASS, EPSILON_SVR, NU_SVR = range(5)
LINEAR, POLY, RBF, SIGMOID, PRECOMPUTED = range(5)
PRINT = CFUNCTYPE(None, c_char_p)


class Node(ctypes.Structure):
    _fields_ = [("index", c_int), ("value", c_double)]


class Problem(ctypes.Structure):
    _fields_ = [("l", c_int), ("y", POINTER(c_double)), ("x", POINTER(POINTER(Node)))]


class Parameter(ctypes.Structure):
    _fields_ = [("svm_type", c_int), ("kernel_type", c_int), ("degree", c_int), ("gamma", c_double),
                ("coef0", c_double), ("cache_size", c_double), ("eps", c_double), ("C", c_double),
                ("nr_weight", c_int), ("weight_label", POINTER(c_int)),
                ("weight", POINTER(c_double)), ("nu", c_double), ("p", c_double),
                ("shrinking", c_int), ("probability", c_int)]


def model_type(abi):
    fields = [("param", Parameter), ("nr_class", c_int), ("l", c_int),
              ("SV", POINTER(POINTER(Node))), ("sv_coef", POINTER(POINTER(c_double))),
              ("rho", POINTER(c_double)), ("probA", POINTER(c_double)),
              ("probB", POINTER(c_double))]
    if abi >= 4:
        fields += [("prob_density_marks", POINTER(c_double))]
    fields += [("sv_indices", POINTER(c_int)), ("label", POINTER(c_int)), ("nSV", POINTER(c_int)),
               ("free_sv", c_int)]
    return type("Model%d" % abi, (ctypes.Structure,), {"_fields_": fields})


def nodes(vector):
    """A list of nodes: from pairs as they are, or from numbers without their zeros."""
    pairs = [p if isinstance(p, tuple) else (j + 1, p) for j, p in enumerate(vector)
             if isinstance(p, tuple) or p != 0]
    return (Node * (len(pairs) + 1))(*[Node(i, v) for i, v in pairs], Node(-1, 0))


def problem(vectors, targets):
    kept = [nodes(v) for v in vectors]
    rows = (POINTER(Node) * max(len(kept), 1))(*[ctypes.cast(k, POINTER(Node)) for k in kept])
    y = (c_double * max(len(targets), 1))(*targets)
    made = Problem(len(targets), y, rows)
    made.kept = (kept, rows, y)
    return made


def parameter(weights=None, **fields):
    given = dict(svm_type=C_SVC, kernel_type=RBF, degree=3, gamma=0.5, coef0=0, cache_size=100,
                 eps=1e-3, C=1, nu=0.5, p=0.1, shrinking=1, probability=0)
    given.update(fields)
    made = Parameter(**given)
    if weights:
        made.nr_weight = len(weights)
        made.weight_label = (c_int * len(weights))(*weights.keys())
        made.weight = (c_double * len(weights))(*weights.values())
    return made


class Library:
    def __init__(self, path, abi=3):
        lib = self.lib = ctypes.CDLL(str(path))
        self.abi = abi
        model = self.model = model_type(abi)
        pointer = POINTER(model)
        for name, result, arguments in (
                ("svm_train", pointer, [POINTER(Problem), POINTER(Parameter)]),
                ("svm_cross_validation", None,
                 [POINTER(Problem), POINTER(Parameter), c_int, POINTER(c_double)]),
                ("svm_save_model", c_int, [c_char_p, pointer]),
                ("svm_load_model", pointer, [c_char_p]),
                ("svm_predict_values", c_double, [pointer, POINTER(Node), POINTER(c_double)]),
                ("svm_predict", c_double, [pointer, POINTER(Node)]),
                ("svm_predict_probability", c_double, [pointer, POINTER(Node), POINTER(c_double)]),
                ("svm_free_and_destroy_model", None, [POINTER(pointer)]),
                ("svm_check_parameter", c_char_p, [POINTER(Problem), POINTER(Parameter)]),
                ("svm_check_probability_model", c_int, [pointer]),
                ("svm_get_svr_probability", c_double, [pointer]),
                ("svm_set_print_string_function", None, [PRINT])):
            function = getattr(lib, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.silent = PRINT(lambda text: None)
        self.svm_set_print_string_function(self.silent)

    def cross_validation(self, prob, param, folds):
        found = (c_double * prob.l)()
        self.svm_cross_validation(byref(prob), byref(param), folds, found)
        return list(found)

    def train(self, prob, param):
        return Trained(self, self.svm_train(byref(prob), byref(param)), (prob, param))

    def load(self, path):
        return Trained(self, self.svm_load_model(str(path).encode()), ())


class Trained:
    """A model of a library, which is freed with this object."""

    def __init__(self, library, pointer, keep):
        self.interface, self.pointer, self.keep = library, pointer, keep
        self.content = pointer.contents

    def __del__(self):
        self.interface.svm_free_and_destroy_model(byref(self.pointer))

    @property
    def pairs(self):
        return self.content.nr_class * (self.content.nr_class - 1) // 2

    def predict(self, vector):
        return self.interface.svm_predict(self.pointer, nodes(vector))

    def values(self, vector):
        found = (c_double * max(self.pairs, 1))()
        self.interface.svm_predict_values(self.pointer, nodes(vector), found)
        return list(found)

    def probability(self, vector):
        found = (c_double * max(self.content.nr_class, 2))()
        label = self.interface.svm_predict_probability(self.pointer, nodes(vector), found)
        return label, list(found)

    def save(self, path):
        return self.interface.svm_save_model(str(path).encode(), self.pointer)

    def array(self, name, count):
        found = getattr(self.content, name)
        return [found[i] for i in range(count)] if found else None
