"""Microaggregator: the scikit-learn face."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import validate_data
except ImportError as error:
    raise ImportError('Microaggregator needs scikit-learn >= 1.6: pip install "coterie[sklearn]"') from error

from ..algorithms.registry import find
from ..errors import CoterieError
from .api import microaggregate
from .numeric_table import read


def _holds_text(X: Any) -> bool:
    """Whether an array of objects holds a text, which scikit-learn would try to read as a number."""
    array = np.asarray(X)
    return array.dtype == object and any(isinstance(value, (str, bytes)) for value in array.flat)


def _is_frame(X: Any) -> bool:
    return not isinstance(X, np.ndarray) and hasattr(X, "columns")


class Microaggregator(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace each record by the centre of its group of at least k records.

    It has `fit`, `fit_predict` and `fit_transform` but no `transform`: values for new records would carry no promise
    that k of them are alike. In a Pipeline it is therefore the last step, and a ColumnTransformer does not take it.

    Parameters
    ----------
    k : int, default=5
        Minimum group size.
    method : str, default="auto"
        A method listed by `coterie.methods()`.
    standardize : bool, default=True
        Whether to standardize columns before computing distances.
    centre : {"mean", "median"}, default="mean"
        Released value of a group.
    center : {"mean", "median"}, default=None
        Alias of `centre`; give only one of them.
    distortion : {"squared", "euclidean"}, default="squared"
        What "auto" and a list of gammas minimize.
    refine : {"none", "quick", "thorough"}, default="none"
        Whether to improve the groups by local search afterwards.
    blocks : int or "auto", default=None
        Group the records in blocks of at most this many, in parallel threads.
    random_state : int, Generator or None, default=0
        Seed of randomized methods and of the local search.
    method_params : dict, default=None
        Parameters of the method, such as {"gamma": 0.2}.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The group of each record; from "individual-ranking", of shape (n_samples, n_features).
    result_ : Result
        Losses, sizes, parameters; see `coterie.microaggregate`.
    n_features_in_, feature_names_in_
        As in every scikit-learn estimator.

    Examples
    --------
    >>> import coterie as ct
    >>> X = ct.datasets.load_companies().X
    >>> ct.Microaggregator(k=3, method="mdav").fit_transform(X).shape
    (11, 2)
    """

    def __init__(
        self,
        k: int = 5,
        method: str = "auto",
        *,
        standardize: bool = True,
        centre: str = "mean",
        center: str | None = None,
        distortion: str = "squared",
        refine: str = "none",
        blocks: int | str | None = None,
        random_state: int | np.random.Generator | None = 0,
        method_params: Mapping[str, Any] | None = None,
    ) -> None:
        self.k = k
        self.method = method
        self.standardize = standardize
        self.centre = centre
        self.center = center
        self.distortion = distortion
        self.refine = refine
        self.blocks = blocks
        self.random_state = random_state
        self.method_params = method_params

    def fit(self, X: Any, y: Any = None) -> Microaggregator:  # noqa: ARG002
        """Group the records of X. `y` is ignored; it exists for compatibility with scikit-learn."""
        result = microaggregate(
            self._validated(X),
            self.k,
            self.method,
            standardize=self.standardize,
            distortion=self.distortion,  # type: ignore[arg-type]
            refine=self.refine,  # type: ignore[arg-type]
            blocks=self.blocks,  # type: ignore[arg-type]
            random_state=self.random_state,
            **self._centre(),
            **find(self.method).check(self.method_params or {}),
        )
        self.result_ = result._reading(X) if _is_frame(X) else result
        self.labels_ = self.result_.labels
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Group the records of X and return the group of each."""
        labels: NDArray[np.int64] = self.fit(X, y).labels_
        return labels

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Group the records of X and return the table in which each record is replaced by its group's centre."""
        data: NDArray[np.float64] = self.fit(X, y).result_.data.copy()
        return data

    def _centre(self) -> dict[str, Any]:
        """The centre by the names that were given; scikit-learn wants them left as they are until now."""
        if self.center is None:
            return {"centre": self.centre}
        return {"center": self.center} | ({"centre": self.centre} if self.centre != "mean" else {})

    def _validated(self, X: Any) -> Any:
        """X as an array, checked by both houses; the message of neither holds a record's value."""
        if _is_frame(X):
            read(X)  # text, dates, booleans, categories and gaps in frames: refused, as everywhere in Coterie
        elif np.asarray(X).dtype.kind in "bmMUS" or _holds_text(X):
            kind = np.asarray(X).dtype
            raise CoterieError("X must hold real numbers.", f"an array of type {kind}")
        problem: ValueError | TypeError | None = None
        try:
            return validate_data(self, X, dtype=[np.float64, np.float32])
        except (ValueError, TypeError) as error:
            problem = error
        first_line = str(problem).partition("\n")[0]  # what follows may quote the data
        if isinstance(problem, TypeError):
            raise TypeError(first_line)
        raise CoterieError(first_line)
