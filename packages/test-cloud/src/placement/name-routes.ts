import { CUSTOM_NAME, RESOURCE_CLASSES, TRAITS } from '@apistrata/compute-engine/api';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, Reply, type Route } from '../service/route.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import { classNames, createdNameTable, traitNames, unknownClassMessage, unknownTraitsMessage } from './names.js';
import { isAtLeast } from './placement-version.js';
import { listProviders, type Provider, provider, providerInPath, rejectOutdated, writeProvider } from './providers.js';
import { invalidBody, validateBody } from './request-body.js';
import { checkParameters } from './requirements.js';

/** The maximum length of a resource class or trait, in characters. */
const MAX_NAME_LENGTH = 255;

const CUSTOM_CLASS = /^CUSTOM_[A-Z0-9_]+$/;
const NewResourceClass = z.strictObject({ name: z.string().regex(CUSTOM_CLASS).max(MAX_NAME_LENGTH) });

function classRoutes(): readonly Route[] {
  const view = (name: string) => ({ name, links: [{ rel: 'self', href: `/placement/resource_classes/${name}` }] });
  const find = async (call: Call) => {
    const name = call.param('name');
    if (!(await classNames(call)).has(name)) throw notFound(unknownClassMessage(name));
    return name;
  };
  const locationHeader = (call: Call, name: string) => ({ Location: `${call.base}/resource_classes/${name}` });
  return [
    get('/resource_classes', async (call) => ({ resource_classes: [...(await classNames(call))].map(view) })),
    post('/resource_classes', async (call) => {
      const { name } = validateBody(call, NewResourceClass);
      if ((await classNames(call)).has(name)) throw conflict(`Conflicting resource class already exists: ${name}`);
      createdNameTable(call, 'classes').set(name, true);
      return new Reply(201, undefined, locationHeader(call, name));
    }),
    get('/resource_classes/:name', async (call) => view(await find(call))),
    put('/resource_classes/:name', async (call) => {
      if (!isAtLeast(call, 7)) {
        // Before microversion 1.7, this operation renames a class.
        const { name } = validateBody(call, NewResourceClass);
        const before = await find(call);
        if (!createdNameTable(call, 'classes').has(before))
          throw badRequest(`Cannot update standard resource class ${before}`);
        if (name !== before && (await classNames(call)).has(name))
          throw conflict(`Resource class already exists: ${name}`);
        createdNameTable(call, 'classes').delete(before);
        createdNameTable(call, 'classes').set(name, true);
        return view(name);
      }
      const name = call.param('name');
      if (name.length > MAX_NAME_LENGTH) throw invalidBody(`'${name}' is too long`, 'maxLength');
      if (!CUSTOM_CLASS.test(name)) throw invalidBody(`'${name}' does not match '${CUSTOM_CLASS.source}'`, 'pattern');
      const exists = (await classNames(call)).has(name);
      createdNameTable(call, 'classes').set(name, true);
      return new Reply(exists ? 204 : 201, undefined, locationHeader(call, name));
    }),
    del('/resource_classes/:name', async (call) => {
      const name = await find(call);
      if (RESOURCE_CLASSES.has(name))
        throw badRequest(`Error in delete resource class: Cannot delete standard resource class ${name}.`);
      if ([...(await listProviders(call)).values()].some(({ inventories }) => inventories[name]))
        throw conflict(
          `Error in delete resource class: Cannot delete resource class ${name}. Class is in use in inventory.`,
        );
      createdNameTable(call, 'classes').delete(name);
      return noContent();
    }),
  ];
}

function traitRoutes(): readonly Route[] {
  const find = async (call: Call) => {
    const name = call.param('name');
    if (!(await traitNames(call)).has(name)) throw notFound(unknownTraitsMessage([name]));
    return name;
  };
  return [
    get('/traits', async (call) => {
      checkParameters(call, ['name', 'associated']);
      const nameFilter = call.text('name');
      if (nameFilter !== undefined && !nameFilter.includes(':'))
        throw badRequest(
          `Badly formatted name parameter. Expected name query string parameter in form: ?name=[in|startswith]:[name1,name2|prefix]. Got: "${nameFilter}"`,
        );
      if (call.query.has('associated') && !/^(true|false)$/i.test(call.text('associated') ?? ''))
        throw badRequest('The query parameter "associated" only accepts "true" or "false"');
      const usedTraits = new Set([...(await listProviders(call)).values()].flatMap(({ traits }) => traits));
      const associated = call.query.has('associated') ? call.flag('associated') : undefined;
      const filterValue = nameFilter?.slice(nameFilter.indexOf(':') + 1) ?? '';
      // A filter with an unknown operator matches all traits.
      const matchesName = (name: string) => {
        if (nameFilter?.startsWith('in:')) return filterValue.split(',').includes(name);
        return !nameFilter?.startsWith('startswith:') || name.startsWith(filterValue);
      };
      return {
        traits: [...(await traitNames(call))].filter(
          (name) => matchesName(name) && (associated === undefined || usedTraits.has(name) === associated),
        ),
      };
    }),
    get('/traits/:name', async (call) => {
      await find(call);
      return noContent();
    }),
    put('/traits/:name', async (call) => {
      const name = call.param('name');
      if (!CUSTOM_NAME.test(name))
        throw badRequest(
          `The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix "CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_"`,
        );
      const exists = (await traitNames(call)).has(name);
      createdNameTable(call, 'traits').set(name, true);
      return new Reply(exists ? 204 : 201, undefined, { Location: `${call.base}/traits/${name}` });
    }),
    del('/traits/:name', async (call) => {
      const name = await find(call);
      if (TRAITS.has(name)) throw badRequest(`Cannot delete standard trait ${name}.`);
      if ([...(await listProviders(call)).values()].some(({ traits }) => traits.includes(name)))
        throw conflict(`The trait ${name} is in use by a resource provider.`);
      createdNameTable(call, 'traits').delete(name);
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
  const TraitsBody = z.strictObject({
    traits: z.array(z.string().min(1).max(MAX_NAME_LENGTH)),
    resource_provider_generation: z.number().int(),
  });
  /** Replaces a provider's traits. The provider's generation increases only if the traits differ. */
  const changeTraits = (call: Call, before: Provider, traits: readonly string[]) => {
    const isUnchanged = traits.length === before.traits.length && traits.every((name) => before.traits.includes(name));
    return isUnchanged ? before : writeProvider(call, before, { traits });
  };
  return [
    get(path, async (call) => view(await providerInPath(call))),
    put(path, async (call) => {
      const { traits: requested, resource_provider_generation: seenGeneration } = validateBody(call, TraitsBody);
      const before = await provider(call);
      const traits = [...new Set(requested)];
      rejectOutdated(before, seenGeneration);
      const names = await traitNames(call);
      const unknownTraits = traits.filter((name) => !names.has(name));
      if (unknownTraits.length > 0) throw badRequest(`No such trait ${unknownTraits.join(', ')}`);
      return view(await changeTraits(call, before, traits));
    }),
    del(path, async (call) => {
      await changeTraits(call, await provider(call), []);
      return noContent();
    }),
  ];
}

/** The routes for resource classes and traits. */
export function nameRoutes(): readonly Route[] {
  return [...classRoutes(), ...traitRoutes()];
}
