import type { Rule } from '@apistrata/compute-engine/drivers';
import { z } from 'zod';
import type { HttpRule } from '../gateway/http-rule.js';
import { LinearPattern } from './linear-pattern.js';

/** Parses a string: `"/^web-/i"` becomes a pattern, and any other string matches literally. */
const textOrPattern = z.string().transform((value, context) => {
  const [, source, flags] = /^\/(.+)\/([imsu]*)$/.exec(value) ?? [];
  if (source === undefined) return value;
  try {
    return new LinearPattern(source, flags ?? '');
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});

const positiveCount = z.number().int().min(1);
const delayMs = z.number().min(0);

/** The JSON of a rule for simulated machines. */
export const MachineRuleBody = z
  .strictObject({
    match: z.strictObject({
      verb: z.union([z.string(), z.array(z.string())]).optional(),
      name: textOrPattern.optional(),
      metadata: z.record(z.string(), z.string()).optional(),
      flavor: z.string().optional(),
      image: z.string().optional(),
      host: z.string().optional(),
    }),
    fromCall: positiveCount.optional(),
    times: positiveCount.optional(),
    delayMs: delayMs.optional(),
    fail: z.string().optional(),
    hang: z.literal(true).optional(),
  })
  .transform((rule) => rule as Rule);

const effect = {
  delayMs: delayMs.optional(),
  status: z.number().int().min(200).max(599).optional(),
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  drop: z.literal(true).optional(),
  apply: z.literal(true).optional(),
};

/** The JSON of a rule for HTTP requests. */
export const HttpRuleBody = z
  .strictObject({
    match: z.strictObject({
      method: z.string().optional(),
      path: textOrPattern.optional(),
      version: z.string().optional(),
      headers: z.record(z.string(), textOrPattern).optional(),
      body: z.unknown().optional(),
    }),
    fromCall: positiveCount.optional(),
    times: positiveCount.optional(),
    sequence: z.array(z.strictObject(effect)).optional(),
    ...effect,
  })
  .transform((rule) => rule as HttpRule);
