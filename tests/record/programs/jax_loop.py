# jax_loop.py - a compiled training step for gpu.sh. Prints how long the loop took.
import os
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.mean(jnp.tanh(jnp.tanh(x @ w[0]) @ w[1]) ** 2)


@jax.jit
def step(w, x):
    g = jax.grad(loss)(w, x)
    return [a - 0.01 * b for a, b in zip(w, g)]


key = jax.random.PRNGKey(0)
w = [jax.random.normal(key, (1024, 1024)) for _ in range(2)]
x = jax.random.normal(key, (512, 1024))


def run(w, n):
    for i in range(n):
        w = step(w, x)
        if i % 50 == 0:
            float(w[0][0, 0])
    jax.block_until_ready(w)
    return w


w = run(w, 50)
start = time.perf_counter()
w = run(w, 1000)
print("loop_s=%.6f" % (time.perf_counter() - start))
