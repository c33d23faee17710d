import { checkJsonText } from '@apistrata/microversion';
import express, { type RequestHandler } from 'express';

/** Returns middleware that parses JSON bodies of some media types, with the compute API's limits and at most 1 MiB. */
export function readJson(type: string[] | (() => boolean)): RequestHandler {
  const verify = (_req: unknown, _res: unknown, bytes: Buffer) => checkJsonText(bytes.toString());
  return express.json({ type, limit: '1mb', strict: false, verify });
}
