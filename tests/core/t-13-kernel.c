/* t-13-kernel.c - kernels: what they ask of their operands, what the backend gets. */
#include "fake_backend.h"

#include <math.h>

static sl_device *device, *other;
static sl_stream *stream;

static void test_matmul(void)
{
    sl_tensor *a = fake_matrix(device, 4, 3), *b = fake_matrix(device, 3, 5);
    sl_tensor *out = fake_matrix(device, 4, 5), *wrong = fake_matrix(device, 4, 4);
    sl_tensor *host = fake_tensor_2d(device, SL_FLOAT32, SL_PAGEABLE, 4, 3);
    sl_tensor *bytes = fake_tensor_2d(device, SL_UINT8, SL_ON_DEVICE, 4, 3);
    sl_tensor *bf16 = fake_tensor_2d(device, SL_BFLOAT16, SL_ON_DEVICE, 3, 5);
    sl_tensor *foreign = fake_matrix(other, 4, 3), *vector = NULL;
    sl_tensor_spec spec = { .ndim = 1, .dim = { 3 } };
    sl_tensor_create(device, &spec, stream, &vector, NULL);
    is_int(launch_matmul(out, a, b, true, stream, NULL), SL_OK, "matrices that fit are multiplied");
    ok(fake.last_work.m == 4 && fake.last_work.n == 5 && fake.last_work.k == 3,
       "the backend gets m, n and k");
    is_int(fake.last_work.flags, SL_WORK_TF32, "and whether TF32 is allowed");
    fake.enqueues = 0;
    fails_with(launch_matmul(out, a, a, false, stream, err), SL_ESHAPE,
               "inner sizes differ: 4x3 times 4x3", "inner sizes must agree");
    fails_with(launch_matmul(wrong, a, b, false, stream, err), SL_ESHAPE, "out is 4x4, needed 4x5",
               "out must have the product's shape");
    fails_with(launch_matmul(out, a, vector, false, stream, err), SL_ESHAPE,
               "matmul needs matrices; a is 4x3, b is 3", "a vector is no matrix");
    fails_advising(launch_matmul(out, host, b, false, stream, err), SL_EPLACE,
                   SL_ADVICE_COPY_TO_GPU, "a is on the cpu", "host tensors are refused");
    fails_with(launch_matmul(out, bytes, b, false, stream, err), SL_EDTYPE,
               "a is uint8; matmul takes float32, float64, bfloat16 or float16",
               "bytes are no numbers");
    fails_advising(launch_matmul(out, a, bf16, false, stream, err), SL_EDTYPE, SL_ADVICE_CAST,
                   "a is float32, b is bfloat16: a kernel needs one dtype", "dtypes must agree");
    fails_with(launch_matmul(out, foreign, b, false, stream, err), SL_EDEVICE,
               "a is on another device (fake 1, Fake) than the stream (fake 0, Fake)",
               "tensors of another device are refused");
    fails_with(launch_matmul(out, a, NULL, false, stream, err), SL_ECLOSED, "b is missing",
               "a missing operand is named");
    fails_with(launch_matmul(out, a, b, false, NULL, err), SL_ECLOSED, "the stream is closed",
               "a closed stream is refused");
    is_int(fake.enqueues, 0, "none of these was enqueued");
    sl_device_synchronize(device, NULL);
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_tensor_release(out);
    sl_tensor_release(wrong);
    sl_tensor_release(host);
    sl_tensor_release(bytes);
    sl_tensor_release(bf16);
    sl_tensor_release(foreign);
    sl_tensor_release(vector);
}

static void test_elementwise(void)
{
    sl_tensor *a = fake_matrix(device, 4, 3), *b = fake_matrix(device, 4, 3);
    sl_tensor *square = fake_matrix(device, 3, 3), *one = fake_matrix(device, 1, 1);
    sl_tensor *empty = fake_matrix(device, 0, 3);
    fails_with(launch_matmul(square, square, square, false, stream, err), SL_EINVAL,
               "out may not be a: matmul reads it while it writes", "matmul is not in place");
    is_int(launch_number(SL_KERNEL_POW, a, a, 3, stream, NULL), SL_OK, "pow may be");
    ok(fake.last_work.n == 12 && fake.last_work.scalar == 3, "the backend gets n and exponent");
    is_int(launch_pair(SL_KERNEL_ADD, a, a, b, stream, NULL), SL_OK, "add works");
    is_int(launch_pair(SL_KERNEL_MUL, a, a, b, stream, NULL), SL_OK, "so does mul");
    is_int(launch_number(SL_KERNEL_ADD_SCALAR, a, a, 1, stream, NULL), SL_OK,
           "and adding a number");
    is_int(launch_number(SL_KERNEL_MUL_SCALAR, a, a, 2, stream, NULL), SL_OK,
           "and multiplying by one");
    is_int(launch_one(SL_KERNEL_RELU, a, a, stream, NULL), SL_OK, "and what has one tensor alone");
    fails_with(launch_pair(SL_KERNEL_RELU, a, a, b, stream, err), SL_EINVAL,
               "relu is no kernel of two tensors", "a kernel of one tensor takes no two");
    fails_with(launch_one(SL_KERNEL_MATMUL, a, a, stream, err), SL_ECLOSED, "b is missing",
               "nor a product one");
    fails_with(launch_one(SL_KERNEL_FILL, a, a, stream, err), SL_EINVAL,
               "fill is no kernel of tensors", "nor what has no input any");
    fails_with(launch_number(SL_KERNELS, a, a, 1, stream, err), SL_EINVAL,
               "unknown is no kernel of tensors", "nor is there any other");
    fails_with(launch_pair(SL_KERNEL_ADD, a, a, square, stream, err), SL_ESHAPE,
               "a is 4x3, b is 3x3: the shapes differ", "shapes must agree");
    fails_with(launch_pair(SL_KERNEL_ADD, a, a, NULL, stream, err), SL_ECLOSED, "b is missing",
               "a missing b is not taken for a kernel of one operand");
    fails_with(launch_number(SL_KERNEL_POW, square, a, 2, stream, err), SL_ESHAPE,
               "out is 3x3, needed 4x3", "also the output's");
    is_int(launch_one(SL_KERNEL_SOFTMAX, b, a, stream, NULL), SL_OK, "softmax works");
    ok(fake.last_work.m == 4 && fake.last_work.n == 3, "over rows");
    is_int(launch_one(SL_KERNEL_SUM, one, a, stream, NULL), SL_OK, "sum works");
    fails_with(launch_one(SL_KERNEL_SUM, b, a, stream, err), SL_ESHAPE,
               "out is 4x3, needed one element", "into one element");
    is_int(launch_one(SL_KERNEL_SOFTMAX, empty, empty, stream, NULL), SL_OK,
           "empty tensors are legal");
    sl_device_synchronize(device, NULL);
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_tensor_release(square);
    sl_tensor_release(one);
    sl_tensor_release(empty);
}

static sl_status spin(int64_t ns, int64_t blocks, int64_t threads, int64_t shared, sl_error *err)
{
    const sl_spin_options options = { ns, blocks, threads, shared };
    return sl_spin(&options, stream, err);
}

static bool is_pow(sl_tensor *out, sl_tensor *a, double number, int64_t n)
{
    fake.last_work = (sl_work){ 0 };
    return launch_number(SL_KERNEL_POW, out, a, number, stream, NULL) == SL_OK
           && fake.last_work.kernel == SL_KERNEL_POW && fake.last_work.n == n
           && fake.last_work.scalar == number
           && !signbit(fake.last_work.scalar) == !signbit(number);
}

/* Launches that are like one before are known, and have to be what they would be otherwise. */
static void test_known(void)
{
    sl_tensor *a = fake_matrix(device, 4, 3), *b = fake_matrix(device, 3, 4);
    sl_tensor *out = fake_matrix(device, 4, 3), *square = fake_matrix(device, 3, 3);
    ok(is_pow(out, a, 0, 12) && is_pow(out, a, 0, 12), "the same launch again is the same");
    ok(is_pow(out, a, -0.0, 12), "a number that differs in its sign alone is another one");
    fails_with(launch_number(SL_KERNEL_POW, out, b, -0.0, stream, err), SL_ESHAPE,
               "out is 4x3, needed 3x4", "and so is another tensor");
    ok(is_pow(out, out, -0.0, 12), "in place as well");
    is_int(launch_matmul(square, b, a, false, stream, NULL), SL_OK, "a product");
    is_int(launch_matmul(square, b, a, true, stream, NULL), SL_OK, "is the same in TF32");
    is_int(fake.last_work.flags, SL_WORK_TF32, "but for that");
    const sl_kernel_args turned = { .a = a, .dim = { 0, 1 } }, straight = { .a = a };
    is_int(sl_launch(SL_KERNEL_TRANSPOSE, b, &turned, stream, NULL), SL_OK, "a transpose");
    fails_with(sl_launch(SL_KERNEL_TRANSPOSE, b, &straight, stream, err), SL_ESHAPE,
               "out is 3x4, needed 4x3", "of other dimensions is another one");
    fails_with(launch_number(SL_KERNEL_POW, out, a, -0.0, NULL, err), SL_ECLOSED,
               "the stream is closed", "a known launch needs a stream");
    ok(is_pow(out, a, 2, 12), "one more that will be known");
    sl_tensor_free(a, NULL);
    fails_with(launch_number(SL_KERNEL_POW, out, a, 2, stream, err), SL_ECLOSED, "a has been freed",
               "a launch is no longer known when a tensor is freed");
    ok(is_pow(out, out, 2, 12), "without it it can be made");
    sl_tensor_release(a);
    sl_tensor_release(out);
    out = fake_matrix(device, 6, 5);
    ok(is_pow(out, out, 2, 30), "nor for a tensor that may have the same address");
    sl_device_synchronize(device, NULL);
    sl_tensor_release(b);
    sl_tensor_release(out);
    sl_tensor_release(square);
}

static void test_spin(void)
{
    is_int(spin(5, 0, 0, 0, NULL), SL_OK, "spin needs only a duration");
    ok(fake.last_work.blocks == 1 && fake.last_work.threads == 32, "one block of one warp then");
    fails_with(spin(-5, 1, 1, 1, err), SL_EINVAL, "duration in ns is -5: it cannot be negative",
               "a negative duration is refused");
    fails_with(spin(5, -1, 1, 1, err), SL_EINVAL, "blocks is -1: it cannot be negative",
               "so are negative blocks");
    fails_with(spin(5, 1, 1025, 1, err), SL_EINVAL, "threads is 1025: the device takes up to 1024",
               "and more threads than a block has");
    fails_with(spin(5, 1, 1, 49153, err), SL_EINVAL,
               "shared_bytes is 49153: the device takes up to 49152",
               "and more shared memory than a block can have");
    fails_with(spin(5, (int64_t)1 << 31, 1, 0, err), SL_EINVAL,
               "blocks is 2147483648: the device takes up to 2147483647",
               "and a larger grid than CUDA's");
    fails_with(sl_spin(NULL, stream, err), SL_EINVAL, "spin needs a duration",
               "and no options at all");
    sl_device_synchronize(device, NULL);
}

static sl_status transpose(sl_tensor *out, sl_tensor *a, int d1, int d2, sl_error *err)
{
    const sl_kernel_args args = { .a = a, .dim = { d1, d2 } };
    return sl_launch(SL_KERNEL_TRANSPOSE, out, &args, stream, err);
}

static void test_transpose(void)
{
    const int64_t sizes[] = { 2, 3, 4, 5, 6 }, swapped[] = { 2, 5, 4, 3, 6 };
    sl_tensor_spec spec = { .ndim = 5 }, result = { .ndim = 5 };
    sl_tensor *a, *out;
    const sl_work *work = &fake.last_work;
    memcpy(spec.dim, sizes, sizeof sizes);
    memcpy(result.dim, swapped, sizeof swapped);
    sl_tensor_create(device, &spec, stream, &a, NULL);
    sl_tensor_create(device, &result, stream, &out, NULL);
    is_int(transpose(out, a, 3, 1, NULL), SL_OK, "two dimensions change places");
    ok(work->outer == 2 && work->m == 3 && work->middle == 4 && work->n == 5 && work->k == 6,
       "the backend gets what lies before, between and behind them");
    is_int(sl_kernel_elems(work, 0), 720, "and reads all elements");
    fails_with(transpose(out, a, 1, 5, err), SL_ESHAPE, "there is no dimension 6: the tensor has 5",
               "dimensions must be there");
    fails_with(transpose(out, a, 0, 1, err), SL_ESHAPE, "out is 2x5x4x3x6, needed 3x2x4x5x6",
               "and out have the sizes");
    fails_with(transpose(a, a, 2, 2, err), SL_EINVAL,
               "out may not be a: transpose reads it while it writes", "apart from the tensor");
    sl_device_synchronize(device, NULL);
    sl_tensor_release(a);
    sl_tensor_release(out);
}

static sl_status cast(sl_tensor *out, sl_tensor *a, sl_dtype dtype, sl_error *err)
{
    const sl_kernel_args args = { .a = a, .dtype = dtype };
    return sl_launch(SL_KERNEL_CAST, out, &args, stream, err);
}

static void test_cast(void)
{
    sl_tensor *a = fake_matrix(device, 4, 3), *turned = fake_matrix(device, 3, 4);
    sl_tensor *wide = fake_tensor_2d(device, SL_FLOAT64, SL_ON_DEVICE, 4, 3);
    const sl_work *work = &fake.last_work;
    is_int(cast(wide, a, SL_FLOAT64, NULL), SL_OK, "operands of a cast have two dtypes");
    ok(work->dtype == SL_FLOAT64 && work->in_dtype == SL_FLOAT32 && work->n == 12,
       "which the backend gets");
    ok(sl_kernel_dtype(work, 0) == SL_FLOAT32 && sl_kernel_dtype(work, SL_OUTPUT) == SL_FLOAT64,
       "each for its side");
    fails_with(cast(turned, a, SL_FLOAT32, err), SL_ESHAPE, "out is 3x4, needed 4x3",
               "the shape stays");
    fails_with(cast(wide, a, SL_INT32, err), SL_EDTYPE, "out is float64, needed int32",
               "out has the dtype that is asked for");
    fails_with(cast(a, a, SL_FLOAT32, err), SL_EINVAL,
               "out may not be a: cast reads it while it writes", "a cast is not in place");
    fails_with(cast(NULL, a, SL_FLOAT32, err), SL_ECLOSED, "out is missing", "it needs an out");
    sl_device_synchronize(device, NULL);
    sl_tensor_release(a);
    sl_tensor_release(turned);
    sl_tensor_release(wide);
}

static void test_results(void)
{
    sl_tensor *a = fake_matrix(device, 4, 3), *b = fake_matrix(device, 3, 5);
    sl_tensor_spec spec;
    fake.enqueues = 0;
    is_int(sl_kernel_result(SL_KERNEL_MATMUL, &(sl_kernel_args){ .a = a, .b = b }, stream, &spec,
                            NULL),
           SL_OK, "a result is known before it is made");
    ok(spec.ndim == 2 && spec.dim[0] == 4 && spec.dim[1] == 5, "of a product its shape");
    sl_kernel_result(SL_KERNEL_CAST, &(sl_kernel_args){ .a = a, .dtype = SL_INT32 }, stream, &spec,
                     NULL);
    ok(spec.dtype == SL_INT32 && spec.dim[0] == 4 && spec.dim[1] == 3, "of a cast its dtype");
    sl_kernel_result(SL_KERNEL_SUM, &(sl_kernel_args){ .a = a }, stream, &spec, NULL);
    ok(spec.ndim == 0 && spec.place == SL_ON_DEVICE, "and a sum is a scalar on the device");
    fails_with(
        sl_kernel_result(SL_KERNEL_ADD, &(sl_kernel_args){ .a = a, .b = b }, stream, &spec, err),
        SL_ESHAPE, "a is 4x3, b is 3x5: the shapes differ", "what would be refused is refused");
    is_int(fake.enqueues, 0, "and nothing was enqueued");
    sl_tensor_release(a);
    sl_tensor_release(b);
}

static sl_tensor *stack(int ndim, int64_t n0, int64_t n1, int64_t n2, int64_t n3)
{
    sl_tensor_spec spec = { .dtype = SL_FLOAT32, .ndim = ndim, .dim = { n0, n1, n2, n3 } };
    sl_tensor *tensor = NULL;
    sl_tensor_create(device, &spec, stream, &tensor, NULL);
    return tensor;
}

/* Products of a and b, which are released: the sizes of the work, as outer, m, n, k. */
static void multiplies(sl_tensor *a, sl_tensor *b, sl_tensor *out, int64_t outer, int64_t m,
                       int64_t n, int64_t k, const char *name)
{
    const sl_work *work = &fake.last_work;
    sl_status status = launch_matmul(out, a, b, false, stream, NULL);
    ok(status == SL_OK && work->outer == outer && work->m == m && work->n == n && work->k == k,
       "%s", name);
    sl_device_synchronize(device, NULL);
    sl_tensor_release(a);
    sl_tensor_release(b);
    sl_tensor_release(out);
}

static void refuses_product(sl_tensor *a, sl_tensor *b, const char *sentence, const char *name)
{
    sl_tensor_spec spec;
    fails_with(
        sl_kernel_result(SL_KERNEL_MATMUL, &(sl_kernel_args){ .a = a, .b = b }, stream, &spec, err),
        SL_ESHAPE, sentence, name);
    sl_tensor_release(a);
    sl_tensor_release(b);
}

static void test_stacks(void)
{
    multiplies(stack(2, 3, 4, 0, 0), stack(2, 4, 5, 0, 0), stack(2, 3, 5, 0, 0), 1, 3, 5, 4,
               "two matrices are one product");
    multiplies(stack(3, 6, 3, 4, 0), stack(3, 6, 4, 5, 0), stack(3, 6, 3, 5, 0), 6, 3, 5, 4,
               "two stacks of 6 are 6 products");
    multiplies(stack(4, 2, 6, 3, 4), stack(4, 2, 6, 4, 5), stack(4, 2, 6, 3, 5), 12, 3, 5, 4,
               "2 x 6 of them are 12");
    is_int((long long)sl_kernel_elems(&fake.last_work, 0), 2 * 6 * 3 * 4, "which read all of a");
    is_int((long long)sl_kernel_elems(&fake.last_work, 1), 2 * 6 * 4 * 5, "and of b");
    is_int((long long)sl_kernel_elems(&fake.last_work, SL_OUTPUT), 2 * 6 * 3 * 5,
           "and write all of out");
    multiplies(stack(3, 6, 3, 4, 0), stack(2, 4, 5, 0, 0), stack(3, 6, 3, 5, 0), 1, 18, 5, 4,
               "a stack by one matrix is one product of all its rows");
    multiplies(stack(4, INT64_C(1) << 40, INT64_C(1) << 40, 0, 1),
               stack(4, INT64_C(1) << 40, INT64_C(1) << 40, 1, 0),
               stack(4, INT64_C(1) << 40, INT64_C(1) << 40, 0, 0), 0, 0, 0, 0,
               "a stack without elements has no sizes, whatever their product would be");
    refuses_product(stack(3, 2, 3, 4, 0), stack(3, 3, 4, 5, 0),
                    "b needs to be one matrix, or a stack of as many as a: 2x3x4 times 3x4x5",
                    "other stacks are refused");
    refuses_product(stack(2, 3, 4, 0, 0), stack(3, 2, 4, 5, 0),
                    "b needs to be one matrix, or a stack of as many as a: 3x4 times 2x4x5",
                    "so is a matrix by a stack");
    refuses_product(stack(4, 2, 1, 3, 4), stack(3, 2, 4, 5, 0),
                    "b needs to be one matrix, or a stack of as many as a: 2x1x3x4 times 2x4x5",
                    "and a stack of stacks by a stack");
    refuses_product(stack(3, 2, 3, 4, 0), stack(3, 2, 3, 4, 0),
                    "inner sizes differ: 2x3x4 times 2x3x4", "inner sizes are those of matrices");
    refuses_product(stack(3, 2, 3, 4, 0), stack(1, 4, 0, 0, 0),
                    "matmul needs matrices; a is 2x3x4, b is 4", "a vector is no matrix");
}

static sl_status fuse(sl_tensor *out, sl_tensor *a, sl_tensor *b, sl_tensor *bias,
                      sl_activation activation, sl_error *err)
{
    const sl_epilogue epilogue = { bias, activation };
    return sl_launch(SL_KERNEL_MATMUL, out,
                     &(sl_kernel_args){ .a = a, .b = b, .epilogue = &epilogue }, stream, err);
}

static void test_epilogues(void)
{
    sl_tensor *a = fake_matrix(device, 4, 3), *b = fake_matrix(device, 3, 5);
    sl_tensor *out = fake_matrix(device, 4, 5),
              *wide = fake_tensor_2d(device, SL_FLOAT64, SL_ON_DEVICE, 3, 3);
    sl_tensor *memory = stack(1, 12, 0, 0, 0), *bias = NULL, *late = NULL, *row = NULL;
    sl_tensor *before = NULL, *part = NULL;
    sl_tensor *no_terms = fake_matrix(device, 4, 0), *none = fake_matrix(device, 0, 5);
    sl_activation activation;
    sl_tensor_narrow(memory, 0, 2, 5, &bias, NULL);
    sl_tensor_view(b, 1, (const int64_t[]){ 15 }, &before, NULL);
    sl_tensor_narrow(before, 0, 3, 5, &part, NULL);
    is_int(fuse(out, a, b, bias, SL_GELU, NULL), SL_OK, "a product takes a bias");
    ok(fake.last_work.flags == SL_WORK_BIAS && fake.last_work.activation == SL_GELU
           && fake.last_side[2].offset == 8 && sl_kernel_elems(&fake.last_work, 2) == 5,
       "which is its third input, of n elements");
    is_int(sl_tensor_in_flight(bias), 1, "and is held");
    is_int(fuse(out, a, b, NULL, SL_RELU, NULL), SL_OK, "an activation needs none");
    is_int((long long)sl_kernel_elems(&fake.last_work, 2), 0, "then there is no third input");
    is_int(fuse(out, a, b, part, SL_RELU, NULL), SL_OK, "a bias may be a part of an operand");
    fails_with(fuse(out, a, b, memory, SL_RELU, err), SL_ESHAPE, "bias is 12, needed 5",
               "it has an element for each column");
    fails_with(fuse(out, a, b, b, SL_RELU, err), SL_ESHAPE, "bias is 3x5, needed 5",
               "and one dimension");
    fails_with(fuse(wide, wide, wide, NULL, SL_RELU, err), SL_EDTYPE,
               "a is float64; a product with a bias or an activation takes float32, bfloat16 or "
               "float16",
               "cublasLt has none of it for float64");
    fails_with(fuse(out, no_terms, none, bias, SL_RELU, err), SL_ESHAPE,
               "a product without terms has no bias: a is 4x0", "nor for products without terms");
    sl_tensor_view(out, 1, (const int64_t[]){ 20 }, &late, NULL);
    sl_tensor_narrow(late, 0, 3, 5, &row, NULL);
    fails_with(fuse(out, a, b, row, SL_RELU, err), SL_EINVAL,
               "out shares memory with bias, which matmul reads while it writes",
               "out lies apart from the bias");
    ok(sl_activation_parse("gelu", &activation) && activation == SL_GELU
           && !sl_activation_parse("none", &activation)
           && !sl_activation_parse("tanh", &activation),
       "activations have names");
    sl_device_synchronize(device, NULL);
    is_int(sl_tensor_in_flight(bias), 0, "a bias is let go");
    sl_tensor *made[] = { a, b, out, wide, memory, bias, late, row, before, part, no_terms, none };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        sl_tensor_release(made[i]);
}

static void test_dtypes(void)
{
    is_int(sl_kernel_check(SL_KERNEL_DIV, SL_FLOAT64, 0.5, NULL), SL_OK, "div takes float64");
    is_int(sl_kernel_check(SL_KERNEL_FILL, SL_UINT8, 0.5, NULL), SL_OK, "fill takes all");
    is_int(sl_kernel_check(SL_KERNEL_ADD_SCALAR, SL_INT32, INT32_MIN, NULL), SL_OK,
           "int32 takes the least number that it holds");
    fails_with(sl_kernel_check(SL_KERNEL_ADD_SCALAR, SL_INT32, 2147483648.0, err), SL_EDTYPE,
               "a is int32: the number must be whole, from -2147483648 to 2147483647, "
               "got 2147483648",
               "but not one more than the greatest");
    fails_with(sl_kernel_check(SL_KERNEL_POW, SL_INT32, 0.5, err), SL_EDTYPE,
               "a is int32: the exponent must be whole, from 0 to 2147483647, got 0.5",
               "nor half an exponent");
    is_int(sl_kernel_check(SL_KERNEL_ADD_SCALAR, SL_INT32, (double)NAN, NULL), SL_EDTYPE,
           "nor NaN");
    fails_with(sl_kernel_check(SL_KERNEL_DIV, SL_INT32, 0, err), SL_EDTYPE,
               "a is int32; div takes float32, float64, bfloat16 or float16",
               "a kernel names what it takes");
    fails_with(sl_kernel_check(SL_KERNEL_SUM, SL_UINT8, 0, err), SL_EDTYPE,
               "a is uint8; sum takes float32, float64, bfloat16, float16 or int32",
               "also when that is nearly everything");
}

int main(void)
{
    plan(0);
    device = fake_open();
    sl_device_open("fake", 1, NULL, 0, &other, NULL);
    stream = sl_device_default_stream(device);
    test_matmul();
    test_elementwise();
    test_known();
    test_spin();
    test_transpose();
    test_cast();
    test_results();
    test_stacks();
    test_epilogues();
    test_dtypes();
    sl_device_release(other);
    fake_close(device);
    return done_testing();
}
