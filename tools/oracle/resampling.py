"""What kinds and bounds of Resize need to know: the resampled axes of a case, and which inputs an output lies near."""

import numpy as np
from reference.resize import CROP, Axis, by_scales, by_sizes, coordinates, listed_axes, roi_of


def keywords(case):
    """mode, mapping, nearest mode and the like, with their defaults; the older forms have their own."""
    old = case.operator == "Upsample" or case.opset < 11
    mapping = "asymmetric" if old else case.get("coordinate_transformation_mode", "half_pixel")
    nearest = "floor" if old else case.get("nearest_mode", "round_prefer_floor")
    return case.get("mode", "nearest"), mapping, nearest


def parameter(case, index):
    """roi, scales, sizes (1, 2, 3 of the newest form), None where absent."""
    if case.operator == "Upsample" or case.opset < 11:
        given = {2: case.get("scales") or (case.inputs[1] if len(case.inputs) > 1 else None)}
    else:
        given = dict(enumerate(case.inputs))
    value = given.get(index)
    return None if value is None or np.size(value) == 0 else np.asarray(value)


def axes(case):
    """The listed axes, skipped ones too."""
    listed = listed_axes(case.get("axes"), case.x.ndim)
    extents = [case.x.shape[a] for a in listed]
    scales, sizes = parameter(case, 2), parameter(case, 3)
    if scales is None:
        outs, factors = by_sizes(extents, sizes, case.get("keep_aspect_ratio_policy", "stretch"))
    else:
        outs, factors = by_scales(extents, scales, None)
    starts, ends = roi_of(parameter(case, 1), keywords(case)[1], len(listed))
    return [Axis(a, extents[i], outs[i], factors[i], starts[i], ends[i]) for i, a in enumerate(listed)]


def resampled(case):
    """Those that are not skipped."""
    crop = keywords(case)[1] == CROP
    return [a for a in axes(case) if a.n and (crop or a.scale != 1 or a.out != a.n)]


def positions(case, axis):
    """The coordinate of every output position."""
    with np.errstate(all="ignore"):
        return coordinates(axis, keywords(case)[1])


def over_axes(case, vectors):
    """True where the vector of some axis is: vectors are (axis, bool per output position)."""
    shape = list(case.x.shape)
    for axis in axes(case):
        shape[axis.axis] = axis.out
    mask = np.zeros(shape, bool)
    for axis, vector in vectors:
        mask |= vector.reshape([-1 if i == axis.axis else 1 for i in range(len(shape))])
    return mask


def near(case, array, all_axes=False):
    """The largest element of an array of X's shape near each output: as far as any filter reaches, and a little further.

    all_axes: on axes that are not resampled too."""
    for axis in resampled(case):
        x = positions(case, axis).astype(np.float64)
        reach = 2.5 + (2.0 / min(1.0, float(axis.scale)) if case.get("antialias") else 0.0)
        first = np.clip(np.ceil(np.where(np.isfinite(x), x, 0) - reach), 0, axis.n - 1).astype(int)
        last = np.clip(np.floor(np.where(np.isfinite(x), x, 0) + reach), 0, axis.n - 1).astype(int)
        moved = np.moveaxis(array, axis.axis, 0)
        parts = [moved[f : max(f, t) + 1].max(axis=0) for f, t in zip(first, last, strict=True)]
        empty = np.zeros((0, *moved.shape[1:]), array.dtype)
        array = np.moveaxis(np.stack(parts) if parts else empty, 0, axis.axis)
    changed = [axis.axis for axis in resampled(case)]
    for axis in range(array.ndim) if all_axes else ():
        if axis not in changed:
            padded = np.pad(array, [(2, 2) if i == axis else (0, 0) for i in range(array.ndim)])
            array = np.lib.stride_tricks.sliding_window_view(padded, 5, axis).max(axis=-1)
    return array
