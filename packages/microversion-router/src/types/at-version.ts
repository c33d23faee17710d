import type { UpperBound, Window } from '@apistrata/microversion';

type CompareDigits<A extends string, B extends string> = A extends B
  ? '='
  : '0123456789' extends `${string}${A}${string}${B}${string}`
    ? '<'
    : '>';

/** Compares two decimal numbers: the longer number is higher; if the lengths are equal, the first different digit decides. */
type CompareNumbers<A extends string, B extends string, Before = '='> = A extends `${infer FirstA}${infer RestA}`
  ? B extends `${infer FirstB}${infer RestB}`
    ? CompareNumbers<RestA, RestB, Before extends '=' ? CompareDigits<FirstA, FirstB> : Before>
    : '>'
  : B extends ''
    ? Before
    : '<';

type NumbersOf<V extends string> = V extends `${infer A}-${infer B}-${infer C}`
  ? [A, B, C]
  : V extends `${infer A}.${infer B}.${infer C}`
    ? [A, B, C]
    : V extends `${infer A}.${infer B}`
      ? [A, B]
      : [V];

type CompareParts<A, B> = A extends [infer FirstA extends string, ...infer RestA]
  ? B extends [infer FirstB extends string, ...infer RestB]
    ? CompareNumbers<FirstA, FirstB> extends infer Result
      ? Result extends '='
        ? CompareParts<RestA, RestB>
        : Result
      : never
    : '='
  : '=';

/** The result of comparing two versions of one scheme at the type level: `<`, `=` or `>`. */
export type CompareVersions<A extends string, B extends string> = CompareParts<NumbersOf<A>, NumbersOf<B>>;

/**
 * Whether a version is at or above a lower bound. A bound that is not a literal type counts as open, because its value
 * is unknown.
 */
type IsAtOrAbove<Since, V extends string> = Since extends string
  ? string extends Since
    ? true
    : CompareVersions<V, Since> extends '<'
      ? false
      : true
  : true;

type IsAtOrBelow<Until, V extends string> =
  Until extends UpperBound<infer End>
    ? IsAtOrAbove<End, V> extends true
      ? string extends End
        ? true
        : End extends string
          ? false
          : true
      : true
    : Until extends string
      ? string extends Until
        ? true
        : CompareVersions<V, Until> extends '>'
          ? false
          : true
      : true;

/** The value of a window at a version, or `never`. At `latest`, only windows without a last version have a value. */
type ValueInWindowAt<W, V extends string> =
  W extends Window<infer T, infer _Kind, infer Since, infer Until>
    ? V extends 'latest'
      ? Until extends undefined
        ? T
        : never
      : IsAtOrAbove<Since, V> extends true
        ? IsAtOrBelow<Until, V> extends true
          ? T
          : never
        : never
    : never;

/** The type of a windowed value at a version; `never` if no value exists at that version. */
export type AtVersion<W, V extends string> = W extends readonly Window<unknown>[]
  ? ValueInWindowAt<W[number], V>
  : W extends Window<unknown>
    ? ValueInWindowAt<W, V>
    : W;
