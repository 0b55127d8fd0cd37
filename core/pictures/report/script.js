"use strict";
{{data.js}}
{{words.js}}
{{rows.js}}
{{waiting.js}}
{{view.js}}
{{paint.js}}
{{over_time.js}}
{{panels.js}}
{{changes.js}}
{{search.js}}
{{links.js}}
{{input.js}}
