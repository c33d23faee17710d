import { checkJsonText } from '@apistrata/microversion/router';
import express, { type RequestHandler } from 'express';

/** Reads JSON bodies of some media types: up to 1 MiB, and no deeper or wider than the compute API reads them. */
export function readJson(type: string[] | (() => boolean)): RequestHandler {
  const verify = (_req: unknown, _res: unknown, bytes: Buffer) => checkJsonText(bytes.toString());
  return express.json({ type, limit: '1mb', strict: false, verify });
}
