import { Rejection } from '@apistrata/compute-engine';
import { described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';
import { extensionCatalogue } from './extension-catalogue.js';

const extensionDocs = resource({
  tag: 'extensions',
  parameters: { id: 'Alias of the extension.' },
});

const extension = object({
  alias: described('Alias of the extension, used in paths.', z.string()),
  description: described('Description of the extension.', z.string()),
  links: described('Always empty.', z.array(z.never())),
  name: described('Name of the extension.', z.string()),
  namespace: described('Namespace URL of the extension.', z.string()),
  updated: described('Time of the last change, in UTC.', z.string()),
});

/** Values that all extensions share, because the namespace and date no longer have a meaning. */
const extensions = extensionCatalogue.map(([alias, name, description]) => ({
  alias,
  description,
  links: [],
  name,
  namespace: 'http://docs.openstack.org/compute/ext/fake_xml',
  updated: '2014-12-03T00:00:00Z',
}));

const extensionsByAlias = new Map(extensions.map((entry) => [entry.alias, entry]));

export const extensionOperations = [
  operation({
    ...extensionDocs,
    name: 'listExtensions',
    method: 'GET',
    path: '/extensions',
    summary: 'List extensions',
    description: 'Lists all extensions. The list is the same at every microversion and no longer changes.',
    policy: 'os_compute_api:extensions',
    status: 200,
    reply: { extensions: described('The list of extensions.', [extension]) },
    run: () => ({ extensions }),
  }),
  operation({
    ...extensionDocs,
    name: 'showExtension',
    method: 'GET',
    path: '/extensions/{id}',
    summary: 'Show an extension',
    description: 'Shows an extension.',
    policy: 'os_compute_api:extensions',
    status: 200,
    errors: [404],
    reply: { extension: described('An extension.', extension) },
    run: ({ params: { id } }) => {
      const extension = extensionsByAlias.get(id);
      if (!extension) throw new Rejection('NOT_FOUND', `There is no extension ${id}.`);
      return { extension };
    },
  }),
];
