import { contentPath, createMetaData, createNetworkData, type GuestMetadata } from './meta-data.js';

/** The supported versions of the OpenStack metadata format. */
const METADATA_VERSIONS = ['2018-08-27', 'latest'];

/** Returns a guest's metadata files in the OpenStack format, by path, for the config drive and the metadata service. */
export function createGuestFiles(metadata: GuestMetadata): ReadonlyMap<string, Buffer> {
  const toJson = (value: object) => Buffer.from(JSON.stringify(value));
  const { server, secrets } = metadata;
  const versionFiles: [string, Buffer][] = [
    ['meta_data.json', toJson(createMetaData(metadata))],
    ['network_data.json', toJson(createNetworkData(metadata))],
    ['vendor_data.json', toJson({})],
    ['vendor_data2.json', toJson({})],
    ...(server.userData ? [['user_data', Buffer.from(server.userData, 'base64')] as [string, Buffer]] : []),
  ];
  return new Map([
    ...METADATA_VERSIONS.flatMap((name) =>
      versionFiles.map(([file, bytes]) => [`openstack/${name}/${file}`, bytes] as const),
    ),
    ...secrets.files.map(
      ({ contents }, index) => [`openstack${contentPath(index)}`, Buffer.from(contents, 'base64')] as const,
    ),
  ]);
}
