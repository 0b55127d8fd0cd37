/* t-66-sha256.c - the digests of texts, as other programs make them. Expected: FIPS 180-4's examples
 * ("abc", the 448-bit and the 896-bit message, a million "a"), and coreutils' sha256sum for lengths
 * around the end of a block, where the padding needs a second one. */
#include "../../core/streamlab.h"
#include "../tap.h"

#include <stdlib.h>
#include <string.h>

static void digest_is(const char *bytes, size_t n, const char *expected, const char *name)
{
    char text[SL_SHA256_CHARS];
    sl_sha256(bytes, n, text);
    is_str(text, expected, "%s", name);
}

static void examples(void)
{
    const char
        *two_blocks = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnop"
                      "jklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    digest_is("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
              "the digest of nothing");
    digest_is("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
              "the digest of one block");
    digest_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
              "the digest of 56 bytes, whose length goes into a second block");
    digest_is(two_blocks, strlen(two_blocks),
              "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
              "the digest of 112 bytes");
}

static void many(size_t n, const char *expected)
{
    char *bytes = malloc(n);
    memset(bytes, 'a', n);
    char name[64];
    snprintf(name, sizeof name, "the digest of %zu bytes", n);
    digest_is(bytes, n, expected, name);
    free(bytes);
}

int main(void)
{
    plan(0);
    examples();
    many(55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    many(63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
    many(64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    many(65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
    many(119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
    many(120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c");
    many(1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    return done_testing();
}
