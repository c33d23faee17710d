import { checkJsonText } from '@apistrata/microversion/router';
import express, { type RequestHandler } from 'express';

/** Parses JSON bodies of some media types: up to 1 MiB, with the limits of nesting and size of the compute API. */
export function readJson(type: string[] | (() => boolean)): RequestHandler {
  const verify = (_req: unknown, _res: unknown, bytes: Buffer) => checkJsonText(bytes.toString());
  return express.json({ type, limit: '1mb', strict: false, verify });
}
