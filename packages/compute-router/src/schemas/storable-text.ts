import { z } from 'zod';

/** Matches characters that databases reject in text: NUL and unpaired surrogates. */
const UNSTORABLE_CHARACTERS = /[\0\p{Surrogate}]/u;

export const isStorable = (text: string) => !UNSTORABLE_CHARACTERS.test(text);

/** The error for strings that are not storable. */
export const STORABLE_RULE = { message: 'NUL and unpaired surrogates are not allowed' };

/** Schema for strings that databases can store and compare. */
export const storableText = z.string().refine(isStorable, STORABLE_RULE);
