import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, patch, put, Reply, type Route } from '../service/route.js';
import { forbidden, notFound } from '../service/service-error.js';
import { authorize } from './authorize.js';
import { DEFAULT_DOMAIN } from './directory.js';
import { DOMAIN_OPTIONS, SECRET_OPTIONS } from './domain-config-options.js';
import type { Action } from './policies.js';

type OptionGroup = Readonly<Record<string, unknown>>;
type DomainConfig = Readonly<Record<string, OptionGroup>>;

const ConfigBody = z.object({ config: z.record(z.string(), z.record(z.string(), z.unknown())) });
/** The request body that changes a single option: `{config: {option: value}}`. */
const OptionBody = z.object({ config: z.record(z.string(), z.unknown()) });

const invalidConfig = (reason: string) => forbidden(`Invalid domain specific configuration: ${reason}.`);
const isSecret = (group: string, option: string) => SECRET_OPTIONS[group]?.includes(option) === true;
const isKnownOption = (group: string, option: string) =>
  Object.hasOwn(DOMAIN_OPTIONS[group] ?? {}, option) || isSecret(group, option);

/** Throws a 403 error for a configuration group or option that domains cannot set. */
function checkOptionNames(group: string, options: readonly string[]): void {
  if (!Object.hasOwn(DOMAIN_OPTIONS, group))
    throw invalidConfig(`Group ${group} is not supported for domain specific configurations`);
  const unknownOption = options.find((option) => !isKnownOption(group, option));
  if (unknownOption !== undefined)
    throw invalidConfig(
      `Option ${unknownOption} in group ${group} is not supported for domain specific configurations`,
    );
}

function checkConfig(config: DomainConfig): void {
  const groups = Object.entries(config);
  if (groups.length === 0) throw invalidConfig('No options specified');
  for (const [group, options] of groups) {
    if (Object.keys(options).length === 0) throw invalidConfig(`No options specified in group ${group}`);
    checkOptionNames(group, Object.keys(options));
  }
}

const PASSWORD_RULES = ['password_regex', 'password_regex_description'];

/** Returns the default domain's password rules, which all callers may read. In this cloud, their values are null. */
function passwordRules(call: Call): OptionGroup {
  const { domain, option } = call.req.params as { domain?: string; option?: string };
  if (!call.cloud.directory.state.domains.has(String(domain))) throw notFound(`Could not find domain: ${domain}.`);
  if (domain !== DEFAULT_DOMAIN)
    throw invalidConfig(
      'Reading security compliance information for any domain other than the default domain is not allowed or supported.',
    );
  if (option !== undefined && !PASSWORD_RULES.includes(option))
    throw invalidConfig(
      'Reading security compliance values other than password_regex and password_regex_description is not allowed.',
    );
  if (option !== undefined) return { [option]: null };
  return { security_compliance: Object.fromEntries(PASSWORD_RULES.map((name) => [name, null])) };
}

/** Returns the routes for domain configurations, which are stored and returned but do not affect users. */
export function domainConfigRoutes(): readonly Route[] {
  const configTable = ({ cloud }: Call) => cloud.documents.table<DomainConfig>('identity/domain-config');

  /** Returns the part of a configuration that the path selects, without secrets. Throws a 404 error if it is empty. */
  function selectConfigPart(call: Call, config: DomainConfig, location: string): unknown {
    const { group, option } = call.req.params as { group?: string; option?: string };
    if (group !== undefined) checkOptionNames(group, option === undefined ? [] : [option]);
    const visibleGroups: Record<string, OptionGroup> = {};
    for (const [name, options] of Object.entries(config)) {
      const visibleOptions = Object.entries(options).filter(([key]) => !isSecret(name, key));
      if (visibleOptions.length > 0) visibleGroups[name] = Object.fromEntries(visibleOptions);
    }
    const missingPartError = (what: string) =>
      notFound(`Could not find ${what} in domain configuration for domain ${location}.`);
    if (group === undefined) {
      if (Object.keys(visibleGroups).length === 0) throw missingPartError('any options');
      return visibleGroups;
    }
    const options = visibleGroups[group];
    if (option === undefined) {
      if (!options) throw missingPartError(`group ${group}`);
      return { [group]: options };
    }
    if (!options || !Object.hasOwn(options, option)) throw missingPartError(`option ${option} in group ${group}`);
    return { [option]: options[option] };
  }

  /** Returns the domain ID in the path. Throws if the caller may not perform the action or the domain does not exist. */
  function requireDomainId(call: Call, action: Action): string {
    authorize(call, action);
    const id = call.param('domain');
    if (!call.cloud.directory.state.domains.has(id)) throw notFound(`Could not find domain: ${id}.`);
    return id;
  }

  const configOf = (call: Call, id: string): DomainConfig => configTable(call).get(id) ?? {};
  const showConfig = (call: Call) => {
    if (call.param('group') === 'security_compliance') return { config: passwordRules(call) };
    const id = requireDomainId(call, 'get_domain_config');
    return { config: selectConfigPart(call, configOf(call, id), id) };
  };

  /** Returns the requested change. The body must contain exactly the group or option that the path names. */
  function requestedChange(call: Call, group: string | undefined, option: string | undefined): DomainConfig {
    if (group === undefined) return call.body(ConfigBody).config;
    if (option !== undefined) {
      const { config } = call.body(OptionBody);
      if (Object.keys(config).length !== 1 || !Object.hasOwn(config, option))
        throw invalidConfig(
          `Trying to update option ${option} in group ${group}, so that, and only that, option must be specified  in the config`,
        );
      return { [group]: config };
    }
    const { config } = call.body(ConfigBody);
    if (Object.keys(config).length !== 1 || !Object.hasOwn(config, group))
      throw invalidConfig(
        `Trying to update group ${group}, so that, and only that, group must be specified in the config`,
      );
    return config;
  }

  function changeConfig(call: Call) {
    const id = requireDomainId(call, 'update_domain_config');
    const { group, option } = call.req.params as { group?: string; option?: string };
    const previousConfig = configOf(call, id);
    selectConfigPart(call, previousConfig, id);
    const requested = requestedChange(call, group, option);
    checkConfig(requested);
    const mergedGroups = Object.entries(requested).map(
      ([name, options]) => [name, { ...previousConfig[name], ...options }] as const,
    );
    const newConfig = { ...previousConfig, ...Object.fromEntries(mergedGroups) };
    configTable(call).set(id, newConfig);
    // The response contains the whole group, even if the request changes a single option.
    const { [group ?? '']: changed } = newConfig;
    return {
      config:
        changed && group !== undefined
          ? { [group]: withoutSecrets(group, changed) }
          : selectConfigPart(call, newConfig, id),
    };
  }

  const withoutSecrets = (group: string, options: OptionGroup): OptionGroup =>
    Object.fromEntries(Object.entries(options).filter(([key]) => !isSecret(group, key)));

  function removeConfig(call: Call) {
    const id = requireDomainId(call, 'delete_domain_config');
    const { group, option } = call.req.params as { group?: string; option?: string };
    const previousConfig = configOf(call, id);
    selectConfigPart(call, previousConfig, id);
    if (group === undefined) configTable(call).delete(id);
    else {
      const reducedGroup = option === undefined ? {} : { ...previousConfig[group], [option]: undefined };
      const remainingOptions = Object.entries(reducedGroup).filter(([, value]) => value !== undefined);
      const { [group]: _, ...others } = previousConfig;
      configTable(call).set(
        id,
        remainingOptions.length > 0 ? { ...others, [group]: Object.fromEntries(remainingOptions) } : others,
      );
    }
    return noContent();
  }

  const configPath = '/v3/domains/:domain/config';
  const paths = [configPath, `${configPath}/:group`, `${configPath}/:group/:option`];
  const showDefaults = (call: Call) => {
    authorize(call, 'get_domain_config_default');
    return { config: selectConfigPart(call, DOMAIN_OPTIONS, 'default') };
  };
  return [
    get('/v3/domains/config/default', showDefaults),
    get('/v3/domains/config/:group/default', showDefaults),
    get('/v3/domains/config/:group/:option/default', showDefaults),
    put(configPath, (call) => {
      const id = requireDomainId(call, 'create_domain_config');
      const { config } = call.body(ConfigBody);
      checkConfig(config);
      const isNewConfig = Object.keys(configOf(call, id)).length === 0;
      configTable(call).set(id, config);
      return new Reply(isNewConfig ? 201 : 200, { config: selectConfigPart(call, config, id) });
    }),
    ...paths.flatMap((path) => [get(path, showConfig), patch(path, changeConfig), del(path, removeConfig)]),
  ];
}
