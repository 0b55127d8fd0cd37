// cost.js - what a part of the output costs the page, about its characters: the program's thread sends no
// more than the page can take, and the page keeps no more than it can show.
"use strict";

const PART_COST = 256, LINE_COST = 24, PICTURE_COST = 32768;

const linesIn = (text) => text.split("\n").length - 1;
const textCost = (text) => text.length + LINE_COST * linesIn(text);
// Of texts by kind.
const pictureCost = (data) => PICTURE_COST + Object.values(data).reduce((sum, text) => sum + text.length, 0) / 64;

const nothing = () => ({ lines: 0, characters: 0, pictures: 0 });
const sumOf = (a, b) => ({ lines: a.lines + b.lines, characters: a.characters + b.characters,
                           pictures: a.pictures + b.pictures });
