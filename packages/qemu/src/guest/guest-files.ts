import { contentPath, type GuestStory, metaData, networkData } from './meta-data.js';

/** Versions of the open format that there are. */
const VERSIONS = ['2018-08-27', 'latest'];

/** What a guest is told in the open format: files by their path, on the config drive and at the metadata service alike. */
export function guestFiles(story: GuestStory): ReadonlyMap<string, Buffer> {
  const json = (value: object) => Buffer.from(JSON.stringify(value));
  const { server, secrets } = story;
  const version: [string, Buffer][] = [
    ['meta_data.json', json(metaData(story))],
    ['network_data.json', json(networkData(story))],
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
