"""MaxUnpool against the reference, bit for bit. docs/unpool.md"""

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, TYPE_NAMES, assert_bits, bits, check, data, examples, isa, kernels, random_nans, variants
from hypothesis import given

WINDOW = {"kernel_shape": [2, 2], "strides": [2, 2]}


@given(strategies.unpools())
@examples(300)
def test_random(node):
    check("max_unpool", *node.inputs(), **node.attributes)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_every_bit_pattern_moves_unchanged(dtype):
    rng = np.random.default_rng(0)
    dtype = np.dtype(TYPE_NAMES[dtype])
    x = random_nans(rng, (3, 5, 8, 9), dtype)
    x[0] = rng.integers(0, 2**16, x[0].shape).astype(f"u{dtype.itemsize}").view(dtype)  # subnormals, or all of 16 bits
    indices = rng.permutation(3 * 5 * 16 * 18)[: x.size].reshape(x.shape)
    (y,) = check("max_unpool", x, indices, **WINDOW)
    assert (bits(y).ravel()[indices] == bits(x)).all()
    assert np.count_nonzero(bits(y)) == np.count_nonzero(bits(x))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_the_last_of_equal_indices_wins(dtype):
    """Also where they are far apart, in other planes and images, and tasks of other threads."""
    dtype = TYPE_NAMES[dtype]
    x = np.arange(1, 5).astype(dtype).reshape(1, 1, 2, 2)
    (y,) = check("max_unpool", x, np.array([5, 5, 5, 7]).reshape(x.shape), **WINDOW)
    assert y.astype(int).ravel().tolist() == [0, 0, 0, 0, 0, 3, 0, 4] + [0] * 8
    rng = np.random.default_rng(1)
    x = data(rng, (4, 8, 30, 40), dtype)
    for places in (1, 3, 1000):
        check("max_unpool", x, rng.integers(0, places, x.shape) * 7, **WINDOW)
    backwards = np.arange(x.size)[::-1].reshape(x.shape)
    check("max_unpool", x, backwards // 2, kernel_shape=[1, 1])


@pytest.mark.parametrize("storage", [np.float32, np.float16])
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("shape", [(2, 3, 9), (2, 3, 9, 11), (1, 2, 5, 7, 4)], ids=str)
def test_inverts_max_pool(shape, ceil_mode, storage):
    """With the shape of MaxPool's input, whatever its windows left out or added."""
    x = data(np.random.default_rng(2), shape, storage)
    r = len(shape) - 2
    window = {"kernel_shape": [2] * r, "strides": [2] * r}
    y, indices = kernels.max_pool(x, return_indices=True, ceil_mode=ceil_mode, **window)
    (back,) = check("max_unpool", y, indices, np.array(shape), **window)
    want = np.zeros(x.size, storage)
    want[indices.ravel()] = y.ravel()
    assert_bits(back, want.reshape(shape))
    assert_bits(kernels.max_pool(np.where(bits(back) != 0, back, storage(-np.inf)), ceil_mode=ceil_mode, **window), y)


def test_sizes():
    x, zero = np.ones((1, 1, 3), np.float32), np.zeros((1, 1, 3), np.int64)
    for attributes, size in (
        ({"kernel_shape": [2]}, 4),
        ({"kernel_shape": [2], "strides": [3]}, 8),
        ({"kernel_shape": [1], "strides": [3]}, 7),
        ({"kernel_shape": [3], "strides": [2], "pads": [1, 2]}, 4),
        ({"kernel_shape": [1], "strides": [3], "pads": [5, 1]}, 1),
    ):
        assert check("max_unpool", x, zero, **attributes)[0].shape == (1, 1, size)
        for given_size in (1, size, size + 5):
            assert check("max_unpool", x, zero, np.array([1, 1, given_size]), **attributes)[0].shape == (1, 1, given_size)
    for shape in ((0, 2, 3), (2, 0, 3)):
        check("max_unpool", np.ones(shape, np.float32), np.zeros(shape, np.int64), kernel_shape=[2])
        check("max_unpool", np.ones(shape, np.float32), np.zeros(shape, np.int64), np.array([*shape[:2], 9]), kernel_shape=[2])
    nothing = np.ones((2, 2, 0), np.float32), np.zeros((2, 2, 0), np.int64)
    (y,) = check("max_unpool", *nothing, np.array([2, 2, 5]), kernel_shape=[2])
    assert (bits(y) == 0).all() and y.shape == (2, 2, 5)
    check("max_unpool", *nothing, kernel_shape=[2])  # size 1
    check("max_unpool", *nothing, kernel_shape=[2], strides=[2])  # size 0: invalid


@pytest.mark.parametrize("index", [-1, 16, 2**31, 2**40, 2**63 - 1, -(2**63), -16])
@pytest.mark.parametrize("place", [0, 3])
def test_an_index_out_of_range(place, index):
    x = np.ones((1, 1, 2, 2), np.float32)
    indices = np.arange(4)
    indices[place] = index
    for threads in (1, 2):
        with pytest.raises(ValueError, match=r"^max_unpool: .*ind(ex|ices)"):
            kernels.max_unpool(x, indices.reshape(x.shape), threads=threads, **WINDOW)
    with pytest.raises(ValueError, match="ind"):  # the range is that of the output that is asked for
        kernels.max_unpool(x, np.full(x.shape, 15), np.array([1, 1, 3, 5]), **WINDOW)


@pytest.mark.parametrize("index", [-1, 2**31, 2**32, -(2**32), 2**63 - 1, -(2**63)])
def test_one_wrong_index_anywhere(index):
    """In every place of a vector and of its remainder; also the first index past the end."""
    for name, _ in variants((1,)):
        with isa(name):
            for n in (1, 2, 3, 5, 8, 13, 16, 31, 40, 67):
                x, good = np.ones((1, 1, n), np.float32), np.arange(2 * n)[::2].reshape(1, 1, n)
                good[0, 0, 0] = 2 * n - 1
                kernels.max_unpool(x, good, kernel_shape=[2], strides=[2])
                for place in range(n):
                    for wrong in (index, 2 * n):
                        bad = good.copy()
                        bad[0, 0, place] = wrong
                        with pytest.raises(ValueError, match="ind"):
                            kernels.max_unpool(x, bad, kernel_shape=[2], strides=[2])


def test_an_index_counts_in_the_output():
    x = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)
    indices = np.array([5, 7, 13, 15]).reshape(x.shape)
    (y,) = check("max_unpool", x, indices, np.array([1, 1, 5, 5]), **WINDOW)
    assert np.flatnonzero(y).tolist() == [5, 7, 13, 15]
    two = np.array([1, 2], np.float32).reshape(2, 1, 1, 1)
    (y,) = check("max_unpool", two, np.array([7, 0]).reshape(two.shape), **WINDOW)
    assert y.ravel().tolist() == [2, 0, 0, 0, 0, 0, 0, 1]


def test_large():
    rng = np.random.default_rng(3)
    x = data(rng, (8, 16, 31, 33), np.float32, "special")
    y, indices = kernels.max_pool(x, [3, 3], strides=[2, 2], pads=[1, 1, 1, 1], return_indices=True)
    window = {"kernel_shape": [3, 3], "strides": [2, 2]}
    whole = check("max_unpool", y, indices, np.array(x.shape), **window)[0]
    for name, threads in variants():
        with isa(name):
            for row in (0, 7):
                own = indices[row : row + 1] - row * x[0].size
                one = kernels.max_unpool(y[row : row + 1], own, np.array([1, *x.shape[1:]]), threads=threads, **window)
                assert_bits(one, whole[row : row + 1], f"row {row}")
