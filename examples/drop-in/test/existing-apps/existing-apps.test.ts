import * as healthcheck from '@apistrata/healthcheck';
import * as healthcheckNest from '@apistrata/healthcheck/nestjs';
import * as microversion from '@apistrata/microversion';
import * as quota from '@apistrata/quota';
import * as requestId from '@apistrata/request-id';
import * as requestIdNest from '@apistrata/request-id/nestjs';
import * as nestCommon from '@nestjs/common';
import * as nestCore from '@nestjs/core';
import compression from 'compression';
import cors from 'cors';
import express from 'express';
import express4 from 'express4';
import helmet from 'helmet';
import morgan from 'morgan';
import * as metadata from 'reflect-metadata';
import supertest from 'supertest';
import { describe, expect, it } from 'vitest';
import { codeOf, type ExistingApp, expectAdditions, expectUnchanged, useApp } from './app-requests.js';

/** The modules that the apps require. Packages of this repository are loaded from their sources. */
const MODULES: Readonly<Record<string, unknown>> = {
  '@apistrata/healthcheck': healthcheck,
  '@apistrata/healthcheck/nestjs': healthcheckNest,
  '@apistrata/microversion': microversion,
  '@apistrata/quota': quota,
  '@apistrata/request-id': requestId,
  '@apistrata/request-id/nestjs': requestIdNest,
  '@nestjs/common': nestCommon,
  '@nestjs/core': nestCore,
  'reflect-metadata': metadata,
  compression,
  cors,
  helmet,
  morgan,
};

const APPS = {
  'express4.cjs': { ...MODULES, express: express4 },
  'express5.ts': { ...MODULES, express },
  'nest.ts': MODULES,
};

/** Runs an app as CommonJS, with or without the code that uses the packages. */
async function run(name: keyof typeof APPS, added: boolean) {
  const code = codeOf(name, added);
  expect(code.includes('@apistrata/')).toBe(added);
  const modules: Readonly<Record<string, unknown>> = APPS[name];
  const load = (id: string) => {
    expect(modules).toHaveProperty([id]);
    return modules[id];
  };
  const module = { exports: {} as ExistingApp };
  new Function('require', 'module', 'exports', code)(load, module, module.exports);
  return { agent: supertest(await module.exports.start()), log: module.exports.log };
}

describe.each(Object.keys(APPS) as (keyof typeof APPS)[])('the existing app %s', (name) => {
  it('works as before with all four packages', async () => {
    await expectUnchanged(await run(name, false), await run(name, true));
  });

  it('gains a health endpoint, request ids, versions and a quota', async () => {
    await expectAdditions((await run(name, true)).agent);
  });
});

it('the app with Express 4 has compression, CORS, security headers and a log', async () => {
  const { responses, log } = await useApp(await run('express4.cjs', true));
  expect((responses as unknown[][])[3]?.slice(2)).toEqual(['gzip', 'SAMEORIGIN', '*']);
  expect(log[0]).toBe('GET /notes 200\n');
});
