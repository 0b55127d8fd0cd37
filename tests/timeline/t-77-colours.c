/* t-77-colours.c - the colours of pictures: they can be told apart, stand out from the page, and carry
 * text that can be read.
 */
#include "make.h"
#include "../../core/pictures/report_page.h"

#include <stdlib.h>

/* How colours are seen is computed from the colours in the source.
 *   sRGB to linear: IEC 61966-2-1. Contrast: WCAG 2.1, (Y + 0.05) / (Y' + 0.05), of which
 *   graphics need 3. Colour blindness: Machado, Oliveira, Fernandes 2009, "A Physiologically-
 *   based Model for Simulation of Color Vision Deficiency", severity 1, on linear RGB. Difference:
 *   CIEDE2000 (Sharma, Wu, Dalal 2005) of CIE Lab, white D65. */
typedef struct three {
    double at[3];
} three;

enum { NORMAL, PROTAN, DEUTAN, TRITAN, VISIONS };
static const char *const vision_names[VISIONS] = { "all", "protan", "deutan", "tritan" };
static const double visions[VISIONS][3][3] = {
    { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
    { { 0.152286, 1.052583, -0.204868 },
      { 0.114503, 0.786281, 0.099216 },
      { -0.003882, -0.048116, 1.051998 } },
    { { 0.367322, 0.860646, -0.227968 },
      { 0.280085, 0.672501, 0.047413 },
      { -0.011820, 0.042940, 0.968881 } },
    { { 1.255528, -0.076749, -0.178779 },
      { -0.078411, 0.930809, 0.147602 },
      { 0.004733, 0.691367, 0.303900 } },
};

static three times(const double matrix[3][3], three v)
{
    three out;
    for (int i = 0; i < 3; i++)
        out.at[i] = matrix[i][0] * v.at[0] + matrix[i][1] * v.at[1] + matrix[i][2] * v.at[2];
    return out;
}

/* Linear RGB of "#rrggbb". */
static three linear(const char *colour)
{
    three out;
    for (int i = 0; i < 3; i++) {
        char digits[3] = { colour[1 + 2 * i], colour[2 + 2 * i], '\0' };
        double c = (double)strtol(digits, NULL, 16) / 255;
        out.at[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    return out;
}

/* What is beyond the screen's colours is cut, as a screen does. */
static three seen(const char *colour, int vision)
{
    three out = times(visions[vision], linear(colour));
    for (int i = 0; i < 3; i++)
        out.at[i] = fmin(1, fmax(0, out.at[i]));
    return out;
}

static double luminance(const char *colour)
{
    three c = linear(colour);
    return 0.2126 * c.at[0] + 0.7152 * c.at[1] + 0.0722 * c.at[2];
}

static double contrast(const char *one, const char *other)
{
    double a = luminance(one) + 0.05, b = luminance(other) + 0.05;
    return fmax(a, b) / fmin(a, b);
}

static double lab_curve(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static three lab_of(three rgb)
{
    static const double to_xyz[3][3] = {
        { 0.4124564, 0.3575761, 0.1804375 },
        { 0.2126729, 0.7151522, 0.0721750 },
        { 0.0193339, 0.1191920, 0.9503041 },
    };
    three xyz = times(to_xyz, rgb);
    double x = lab_curve(xyz.at[0] / 0.95047), y = lab_curve(xyz.at[1]);
    double z = lab_curve(xyz.at[2] / 1.08883);
    return (three){ { 116 * y - 16, 500 * (x - y), 200 * (y - z) } };
}

static double degrees(double radians) { return radians * 180 / acos(-1); }
static double radians(double degrees) { return degrees * acos(-1) / 180; }

/* 0 to 360. */
static double hue_of(double a, double b)
{
    double hue = a == 0 && b == 0 ? 0 : degrees(atan2(b, a));
    return hue < 0 ? hue + 360 : hue;
}

static double mean_hue(double h1, double h2, bool grey)
{
    if (grey) return h1 + h2;
    if (fabs(h1 - h2) <= 180) return (h1 + h2) / 2;
    return (h1 + h2 + (h1 + h2 < 360 ? 360 : -360)) / 2;
}

static double ciede2000(three one, three other)
{
    double chroma = (hypot(one.at[1], one.at[2]) + hypot(other.at[1], other.at[2])) / 2;
    double g = 0.5 * (1 - sqrt(pow(chroma, 7) / (pow(chroma, 7) + pow(25, 7))));
    double a1 = one.at[1] * (1 + g), a2 = other.at[1] * (1 + g);
    double c1 = hypot(a1, one.at[2]), c2 = hypot(a2, other.at[2]);
    double h1 = hue_of(a1, one.at[2]), h2 = hue_of(a2, other.at[2]);
    bool grey = c1 * c2 == 0;
    double turn = grey ? 0 : h2 - h1;
    turn += turn > 180 ? -360 : turn < -180 ? 360 : 0;
    double l = (one.at[0] + other.at[0]) / 2, c = (c1 + c2) / 2, h = mean_hue(h1, h2, grey);
    double t = 1 - 0.17 * cos(radians(h - 30)) + 0.24 * cos(radians(2 * h))
               + 0.32 * cos(radians(3 * h + 6)) - 0.20 * cos(radians(4 * h - 63));
    double dl = (other.at[0] - one.at[0])
                / (1 + 0.015 * (l - 50) * (l - 50) / sqrt(20 + (l - 50) * (l - 50)));
    double dc = (c2 - c1) / (1 + 0.045 * c);
    double dh = 2 * sqrt(c1 * c2) * sin(radians(turn / 2)) / (1 + 0.015 * c * t);
    double rotation = -2 * sqrt(pow(c, 7) / (pow(c, 7) + pow(25, 7)))
                      * sin(radians(60 * exp(-pow((h - 275) / 25, 2))));
    return sqrt(dl * dl + dc * dc + dh * dh + rotation * dc * dh);
}

/* Pairs of the paper by Sharma and others. */
static void test_formulas(void)
{
    static const struct {
        three one, other;
        double want;
    } pairs[] = {
        { { { 50, 2.6772, -79.7751 } }, { { 50, 0, -82.7485 } }, 2.0425 },
        { { { 50, -1, 2 } }, { { 50, 0, 0 } }, 2.3669 },
        { { { 50, 2.5, 0 } }, { { 73, 25, -18 } }, 27.1492 },
        { { { 50, 2.5, 0 } }, { { 58, 24, 15 } }, 19.4535 },
        { { { 2.0776, 0.0795, -1.1350 } }, { { 0.9033, -0.0636, -0.5514 } }, 0.9082 },
    };
    double most = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        most = fmax(most, fabs(ciede2000(pairs[i].one, pairs[i].other) - pairs[i].want));
    ok(most < 0.0001, "CIEDE2000 gives what was published (%.5f)", most);
    ok(fabs(contrast("#777777", "#ffffff") - 4.48) < 0.005, "so does contrast");
}

/* Of the kinds, and behind them of the host's calls. */
static const sl_look *look(int i)
{
    return i < SL_SPAN_KINDS ? &sl_looks[i] : &sl_host_looks[i - SL_SPAN_KINDS];
}

enum { LOOKS = SL_SPAN_KINDS + SL_HOST_LOOKS };

static const sl_paint *paint(int i, bool dark) { return dark ? &look(i)->dark : &look(i)->light; }

static double lightness(const char *colour) { return lab_of(linear(colour)).at[0]; }

/* The least difference between the fills of two kinds, printed in grey. */
static double least_step(bool dark)
{
    double least = 100;
    for (int i = 0; i < SL_SPAN_KINDS; i++) {
        for (int j = 0; j < i; j++)
            least = fmin(least,
                         fabs(lightness(paint(i, dark)->fill) - lightness(paint(j, dark)->fill)));
    }
    return least;
}

static void test_apart(bool dark, int vision)
{
    double least = 1000;
    int one = 0, other = 0;
    for (int i = 0; i < LOOKS; i++) {
        for (int j = 0; j < i; j++) {
            double d = ciede2000(lab_of(seen(paint(i, dark)->fill, vision)),
                                 lab_of(seen(paint(j, dark)->fill, vision)));
            one = d < least ? i : one;
            other = d < least ? j : other;
            least = fmin(least, d);
        }
    }
    ok(least >= 12, "%s, %s: any two colours differ by 12 at least (%s and %s: %.1f)",
       dark ? "dark" : "light", vision_names[vision], look(one)->label, look(other)->label, least);
}

/* --paper of the page's style sheet: the light one, then the dark one. */
static const char *paper(bool dark)
{
    for (const sl__page_file *file = sl__page_files; file->name; file++) {
        if (!strstr(file->name, "report.css")) continue;
        const char *at = strstr(file->data, "--paper: ");
        at = dark ? strstr(at + 1, "--paper: ") : at;
        return at + strlen("--paper: ");
    }
    return "#000000";
}

static void test_contrast(bool dark)
{
    /* Those of pages and tracks are in bindings/pictures/pen.lua, and in 48-places.t.lua. */
    const char *const pages[] = {
        dark ? "#16191d" : "#ffffff",
        dark ? "#1e2227" : "#f4f5f7",
        paper(dark),
    };
    double least = 100, ink = 100;
    int worst = 0;
    for (int i = 0; i < LOOKS; i++) {
        for (int k = 0; k < 3; k++) {
            double c = fmin(contrast(paint(i, dark)->fill, pages[k]),
                            contrast(paint(i, dark)->edge, pages[k]));
            worst = c < least ? i : worst;
            least = fmin(least, c);
        }
        const char *below = i == SL_SPAN_KINDS + SL_HOST_WAITS ? pages[0] : paint(i, dark)->fill;
        ink = fmin(ink, contrast(paint(i, dark)->ink, below));
    }
    ok(least >= 3, "%s: bars and their edges stand out from the page by 3 (%s: %.2f)",
       dark ? "dark" : "light", look(worst)->label, least);
    ok(ink >= 4.5, "and text on them can be read (%.2f)", ink);
}

static void test_colours(void)
{
    for (int dark = 0; dark < 2; dark++) {
        for (int vision = 0; vision < VISIONS; vision++)
            test_apart(dark, vision);
        test_contrast(dark);
    }
    ok(least_step(false) > 6.5, "no two kinds are equally light on white (%.1f)",
       least_step(false));
    ok(least_step(true) > 4.5, "nor on black (%.1f)", least_step(true));
}

int main(void)
{
    plan(0);
    test_formulas();
    test_colours();
    return done_testing();
}
