import { CUSTOM_NAME, RESOURCE_CLASSES, TRAITS } from '@apistrata/compute-engine/api';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, Reply, type Route } from '../service/route.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import { classNames, createdNames, missingClass, missingTraits, traitNames } from './names.js';
import { since } from './placement-version.js';
import { provider, providers, rejectOutdated, write } from './providers.js';
import { bodyOf, invalidBody } from './request-body.js';
import { badQuery, checkParameters } from './request-groups.js';

/** The maximum length of a name, in characters. */
const MAX_NAME = 255;

const New = z.strictObject({
  name: z
    .string()
    .max(MAX_NAME)
    .regex(/^CUSTOM_[A-Z0-9_]+$/),
});

function classRoutes(): readonly Route[] {
  const view = (name: string) => ({ name, links: [{ rel: 'self', href: `/placement/resource_classes/${name}` }] });
  const find = async (call: Call) => {
    const name = call.param('name');
    if (!(await classNames(call)).has(name)) throw notFound(missingClass(name));
    return name;
  };
  const location = (call: Call, name: string) => ({ Location: `${call.base}/resource_classes/${name}` });
  return [
    get('/resource_classes', async (call) => ({ resource_classes: [...(await classNames(call))].map(view) })),
    post('/resource_classes', async (call) => {
      const { name } = bodyOf(call, New);
      if ((await classNames(call)).has(name)) throw conflict(`Conflicting resource class already exists: ${name}`);
      createdNames(call, 'classes').set(name, true);
      return new Reply(201, undefined, location(call, name));
    }),
    get('/resource_classes/:name', async (call) => view(await find(call))),
    put('/resource_classes/:name', async (call) => {
      if (!since(call, 7)) {
        // Before 1.7, this operation renames a class.
        const { name } = bodyOf(call, New);
        const before = await find(call);
        if (!createdNames(call, 'classes').has(before))
          throw badRequest(`Cannot update standard resource class ${before}`);
        if ((await classNames(call)).has(name)) throw conflict(`Resource class already exists: ${name}`);
        createdNames(call, 'classes').delete(before);
        createdNames(call, 'classes').set(name, true);
        return view(name);
      }
      const name = call.param('name');
      if (name.length > MAX_NAME) throw invalidBody(`'${name}' is too long`, 'maxLength');
      if (!CUSTOM_NAME.test(name)) throw invalidBody(`'${name}' does not match '${CUSTOM_NAME.source}'`, 'pattern');
      const exists = (await classNames(call)).has(name);
      createdNames(call, 'classes').set(name, true);
      return new Reply(exists ? 204 : 201, undefined, location(call, name));
    }),
    del('/resource_classes/:name', async (call) => {
      const name = await find(call);
      if (RESOURCE_CLASSES.has(name)) throw badRequest(`Cannot delete standard resource class ${name}.`);
      if ([...(await providers(call)).values()].some(({ inventories }) => inventories[name]))
        throw conflict(
          `Error in delete resource class: Cannot delete resource class ${name}. Class is in use in inventory.`,
        );
      createdNames(call, 'classes').delete(name);
      return noContent();
    }),
  ];
}

function traitRoutes(): readonly Route[] {
  const find = async (call: Call) => {
    const name = call.param('name');
    if (!(await traitNames(call)).has(name)) throw notFound(missingTraits([name]));
    return name;
  };
  return [
    get('/traits', async (call) => {
      checkParameters(call, ['name', 'associated']);
      if (call.query.has('associated') && !/^(true|false)$/i.test(call.text('associated') ?? ''))
        throw badQuery(`The query parameter "associated" only accepts "true" or "false"`);
      const written = call.text('name');
      const used = new Set([...(await providers(call)).values()].flatMap(({ traits }) => traits));
      const associated = call.query.has('associated') ? call.flag('associated') : undefined;
      if (written !== undefined && !/^(in|startswith):/.test(written))
        throw badRequest(
          `Badly formatted name parameter. Expected name query string parameter in form: ?name=[in|startswith]:[name1,name2|prefix]. Got: "${written}"`,
          'placement.query.bad_value',
        );
      const value = written?.slice(written.indexOf(':') + 1) ?? '';
      const matchesName = (name: string) =>
        written === undefined || (written.startsWith('in:') ? value.split(',').includes(name) : name.startsWith(value));
      return {
        traits: [...(await traitNames(call))].filter(
          (name) => matchesName(name) && (associated === undefined || used.has(name) === associated),
        ),
      };
    }),
    get('/traits/:name', async (call) => {
      await find(call);
      return noContent();
    }),
    put('/traits/:name', (call) => {
      const name = call.param('name');
      if (!CUSTOM_NAME.test(name))
        throw badRequest(
          `The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix "CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_"`,
        );
      const exists = createdNames(call, 'traits').has(name);
      createdNames(call, 'traits').set(name, true);
      return new Reply(exists ? 204 : 201, undefined, { Location: `${call.base}/traits/${name}` });
    }),
    del('/traits/:name', async (call) => {
      const name = await find(call);
      if (TRAITS.has(name)) throw badRequest(`Cannot delete standard trait ${name}.`);
      if ([...(await providers(call)).values()].some(({ traits }) => traits.includes(name)))
        throw conflict(`The trait ${name} is in use by a resource provider.`);
      createdNames(call, 'traits').delete(name);
      return noContent();
    }),
    ...providerTraitRoutes(),
  ];
}

function providerTraitRoutes(): readonly Route[] {
  const path = '/resource_providers/:id/traits';
  const view = ({ traits, generation }: { traits: readonly string[]; generation: number }) => ({
    traits,
    resource_provider_generation: generation,
  });
  const Traits = z.strictObject({ traits: z.array(z.string()), resource_provider_generation: z.number().int() });
  return [
    get(path, async (call) => view(await provider(call))),
    put(path, async (call) => {
      const { traits: requested, resource_provider_generation: seen } = bodyOf(call, Traits);
      const before = await provider(call);
      const traits = [...new Set(requested)];
      rejectOutdated(before, seen);
      const names = await traitNames(call);
      const unknown = traits.filter((name) => !names.has(name));
      if (unknown.length > 0) throw badRequest(missingTraits(unknown));
      return view(await write(call, before, { traits }));
    }),
    del(path, async (call) => {
      await write(call, await provider(call), { traits: [] });
      return noContent();
    }),
  ];
}

/** Resource classes and traits. */
export function nameRoutes(): readonly Route[] {
  return [...classRoutes(), ...traitRoutes()];
}
