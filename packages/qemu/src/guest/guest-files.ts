import { contentPath, type GuestMetadata, metaData, networkData } from './meta-data.js';

/** The supported versions of the OpenStack metadata format. */
const VERSIONS = ['2018-08-27', 'latest'];

/** Returns a guest's metadata files in the OpenStack format, by path, for the config drive and the metadata service. */
export function guestFiles(metadata: GuestMetadata): ReadonlyMap<string, Buffer> {
  const json = (value: object) => Buffer.from(JSON.stringify(value));
  const { server, secrets } = metadata;
  const version: [string, Buffer][] = [
    ['meta_data.json', json(metaData(metadata))],
    ['network_data.json', json(networkData(metadata))],
    ['vendor_data.json', json({})],
    ['vendor_data2.json', json({})],
    ...(server.userData ? [['user_data', Buffer.from(server.userData, 'base64')] as [string, Buffer]] : []),
  ];
  return new Map([
    ...VERSIONS.flatMap((name) => version.map(([file, bytes]) => [`openstack/${name}/${file}`, bytes] as const)),
    ...secrets.files.map(
      ({ contents }, index) => [`openstack${contentPath(index)}`, Buffer.from(contents, 'base64')] as const,
    ),
  ]);
}
