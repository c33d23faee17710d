import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, patch, put, Reply, type Route } from '../service/route.js';
import { forbidden, notFound } from '../service/service-error.js';
import { DEFAULT_DOMAIN } from './directory.js';
import { DOMAIN_OPTIONS, SECRET_OPTIONS } from './domain-config-options.js';

type Group = Readonly<Record<string, unknown>>;
type Config = Readonly<Record<string, Group>>;

const Body = z.object({ config: z.record(z.string(), z.record(z.string(), z.unknown())) });
/** The request body that changes a single option: `{config: {option: value}}`. */
const OptionBody = z.object({ config: z.record(z.string(), z.unknown()) });

const invalid = (reason: string) => forbidden(`Invalid domain specific configuration: ${reason}.`);
const isSecret = (group: string, option: string) => SECRET_OPTIONS[group]?.includes(option) === true;
const isKnown = (group: string, option: string) =>
  Object.hasOwn(DOMAIN_OPTIONS[group] ?? {}, option) || isSecret(group, option);

/** Throws a 403 error for a configuration group or option that domains cannot set. */
function checkNames(group: string, options: readonly string[]): void {
  if (!Object.hasOwn(DOMAIN_OPTIONS, group))
    throw invalid(`Group ${group} is not supported for domain specific configurations`);
  const unexpected = options.find((option) => !isKnown(group, option));
  if (unexpected !== undefined)
    throw invalid(`Option ${unexpected} in group ${group} is not supported for domain specific configurations`);
}

function checkConfig(config: Config): void {
  const groups = Object.entries(config);
  if (groups.length === 0) throw invalid('No options specified');
  for (const [group, options] of groups) {
    if (Object.keys(options).length === 0) throw invalid(`No options specified in group ${group}`);
    checkNames(group, Object.keys(options));
  }
}

const PASSWORD_RULES = ['password_regex', 'password_regex_description'];

/** Returns the default domain's password rules, which all callers may read. In this cloud, their values are null. */
function passwordRules(call: Call): Group {
  const { domain, option } = call.req.params as { domain?: string; option?: string };
  if (!call.cloud.directory.state.domains.has(String(domain))) throw notFound(`Could not find domain: ${domain}.`);
  if (domain !== DEFAULT_DOMAIN)
    throw invalid(
      'Reading security compliance information for any domain other than the default domain is not allowed or supported.',
    );
  if (option !== undefined && !PASSWORD_RULES.includes(option))
    throw invalid(
      'Reading security compliance values other than password_regex and password_regex_description is not allowed.',
    );
  if (option !== undefined) return { [option]: null };
  return { security_compliance: Object.fromEntries(PASSWORD_RULES.map((name) => [name, null])) };
}

/** Returns the routes for domain configurations, which are stored and returned but do not affect users. */
export function domainConfigRoutes(): readonly Route[] {
  const table = ({ cloud }: Call) => cloud.documents.table<Config>('identity/domain-config');

  /** Returns the part of a configuration that the path selects, without secrets. Throws a 404 error if it is empty. */
  function part(call: Call, config: Config, location: string): unknown {
    const { group, option } = call.req.params as { group?: string; option?: string };
    if (group !== undefined) checkNames(group, option === undefined ? [] : [option]);
    const shown: Record<string, Group> = {};
    for (const [name, options] of Object.entries(config)) {
      const visible = Object.entries(options).filter(([key]) => !isSecret(name, key));
      if (visible.length > 0) shown[name] = Object.fromEntries(visible);
    }
    const missing = (what: string) =>
      notFound(`Could not find ${what} in domain configuration for domain ${location}.`);
    if (group === undefined) {
      if (Object.keys(shown).length === 0) throw missing('any options');
      return shown;
    }
    const options = shown[group];
    if (option === undefined) {
      if (!options) throw missing(`group ${group}`);
      return { [group]: options };
    }
    if (!options || !Object.hasOwn(options, option)) throw missing(`option ${option} in group ${group}`);
    return { [option]: options[option] };
  }

  /** Returns the domain ID in the path. Throws if the caller is not an administrator or the domain does not exist. */
  function domainOf(call: Call): string {
    call.requireAdmin();
    const id = call.param('domain');
    if (!call.cloud.directory.state.domains.has(id)) throw notFound(`Could not find domain: ${id}.`);
    return id;
  }

  const configOf = (call: Call, id: string): Config => table(call).get(id) ?? {};
  const show = (call: Call) => {
    if (call.param('group') === 'security_compliance') return { config: passwordRules(call) };
    const id = domainOf(call);
    return { config: part(call, configOf(call, id), id) };
  };

  /** Returns the requested change. The body must contain exactly the group or option that the path names. */
  function changeOf(call: Call, group: string | undefined, option: string | undefined): Config {
    if (group === undefined) return call.body(Body).config;
    if (option !== undefined) {
      const { config } = call.body(OptionBody);
      if (Object.keys(config).length !== 1 || !Object.hasOwn(config, option))
        throw invalid(
          `Trying to update option ${option} in group ${group}, so that, and only that, option must be specified  in the config`,
        );
      return { [group]: config };
    }
    const { config } = call.body(Body);
    if (Object.keys(config).length !== 1 || !Object.hasOwn(config, group))
      throw invalid(`Trying to update group ${group}, so that, and only that, group must be specified in the config`);
    return config;
  }

  function change(call: Call) {
    const id = domainOf(call);
    const { group, option } = call.req.params as { group?: string; option?: string };
    const before = configOf(call, id);
    part(call, before, id);
    const requested = changeOf(call, group, option);
    checkConfig(requested);
    const merged = Object.entries(requested).map(([name, options]) => [name, { ...before[name], ...options }] as const);
    const after = { ...before, ...Object.fromEntries(merged) };
    table(call).set(id, after);
    // The response contains the whole group, even if the request changes a single option.
    const { [group ?? '']: changed } = after;
    return {
      config: changed && group !== undefined ? { [group]: withoutSecrets(group, changed) } : part(call, after, id),
    };
  }

  const withoutSecrets = (group: string, options: Group): Group =>
    Object.fromEntries(Object.entries(options).filter(([key]) => !isSecret(group, key)));

  function remove(call: Call) {
    const id = domainOf(call);
    const { group, option } = call.req.params as { group?: string; option?: string };
    const before = configOf(call, id);
    part(call, before, id);
    if (group === undefined) table(call).delete(id);
    else {
      const reduced = option === undefined ? {} : { ...before[group], [option]: undefined };
      const remaining = Object.entries(reduced).filter(([, value]) => value !== undefined);
      const { [group]: _, ...others } = before;
      table(call).set(id, remaining.length > 0 ? { ...others, [group]: Object.fromEntries(remaining) } : others);
    }
    return noContent();
  }

  const full = '/v3/domains/:domain/config';
  const paths = [full, `${full}/:group`, `${full}/:group/:option`];
  const defaults = (call: Call) => {
    call.requireAdmin();
    return { config: part(call, DOMAIN_OPTIONS, 'default') };
  };
  return [
    get('/v3/domains/config/default', defaults),
    get('/v3/domains/config/:group/default', defaults),
    get('/v3/domains/config/:group/:option/default', defaults),
    put(full, (call) => {
      const id = domainOf(call);
      const { config } = call.body(Body);
      checkConfig(config);
      const isNew = Object.keys(configOf(call, id)).length === 0;
      table(call).set(id, config);
      return new Reply(isNew ? 201 : 200, { config: part(call, config, id) });
    }),
    ...paths.flatMap((path) => [get(path, show), patch(path, change), del(path, remove)]),
  ];
}
