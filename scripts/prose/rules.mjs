// Words that docs/style.md replaces: patterns, and their replacements. All patterns ignore case.

/** @type {readonly { readonly pattern: RegExp, readonly instead: string }[]} */
export const RULES = [
  [/\bnobody\b/, 'no caller, no client, never'],
  [/\b(?:somebody|someone)\b/, 'the caller, a client, another process'],
  [/\bwhoever\b/, 'name the actor: the caller, callers that'],
  [/\bwhatever\b/, 'any, regardless of'],
  [/\b(?:told|tells|telling)\b/, 'notified, reported, returned, set'],
  [/\basked\b/, 'requested, called, configured'],
  [/\bbesides?\b/, 'with, in addition to, next to, concurrent'],
  [/\bof which\b/, 'two sentences'],
  [
    /(?<!\bthere )\b(?:is|are|was|were|be) no (?!longer\b|more\b|less\b|fewer\b|later\b|earlier\b)\w/,
    'is not a, does not exist',
  ],
  [/\bno such\b/, 'unknown, does not exist'],
  [/\bin vain\b/, 'unhandled, rejected'],
  [/\bat the (?:most|least)\b/, 'at most, at least'],
  [/\bmisspelt\b/, 'misspelled'],
  [/\bprocessor times?\b/, 'CPU time'],
  [/\bany more(?=[.,;])/, 'anymore'],
  [/(?:^|[.;:] )before, (?=[a-z])/, 'previously'],
  [/\bwithout a trace\b/, 'without side effects, name what remains'],
  [/\bin the place of\b/, 'in place of'],
  [/\banother \w+ than\b/, 'a ... other than'],
  [/\bof (?:this|that) name\b/, 'with this name'],
  [/\b(?:a process|processes) of (?:its|their) own\b/, 'separate process'],
  [/\btyping errors?\b/, 'typo'],
  [/\bexclude each other\b/, 'are mutually exclusive'],
  [/\bmeanwhile\b(?=[^,])/, 'in the meantime'],
  [/\bcures?\b/, 'fix, workaround'],
  [/\btroubles?\b/, 'failure, error, outage'],
  [/\bsigns? of life\b/, 'heartbeat'],
  // A phrase may contain a line break.
].map(([pattern, instead]) => ({ pattern: new RegExp(pattern.source.replaceAll(' ', '\\s+'), 'gi'), instead }));

/** Messages of original services and databases, which are repeated byte for byte. */
export const ORIGINAL_MESSAGES =
  /There is no such action|[Nn]o such (?:relation|table|resource class|QoS spec|trait(?:\(s\))?)/g;

/** Parts of exported names that the glossary replaces. */
export const NAME_PARTS = new Set([
  'nobody',
  'somebody',
  'whoever',
  'whatever',
  'told',
  'tell',
  'asked',
  'beside',
  'cure',
  'trouble',
  'desk',
  'door',
  'leftovers',
  'lifeline',
  'housekeeping',
]);

/** Names of variables, parameters and functions that do not say what the value is. */
export const LOCAL_NAMES = new Set([
  'taken',
  'held',
  'made',
  'said',
  'asked',
  'ask',
  'asks',
  'asker',
  'gone',
  'kept',
  'lent',
  'met',
  'sought',
  'wanted',
  'wish',
  'mine',
  'theirs',
  'who',
  'why',
  'stranger',
]);
