/* cmath.h - cmath: the functions of math.h as std::sqrt. */
#include <math.h>
namespace std
{
using namespace emu;
}
