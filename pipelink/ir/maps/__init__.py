"""Exact maps: finite index spaces sent to named coordinates by closed forms (placements, demands, addresses)."""

from pipelink.ir.maps.exact import ExactMap, parse
from pipelink.ir.maps.fit import FitError, fit
from pipelink.ir.maps.forms import Const, Form, FormError, Index, MapError, Op

__all__ = ["Const", "ExactMap", "FitError", "Form", "FormError", "Index", "MapError", "Op", "fit", "parse"]
