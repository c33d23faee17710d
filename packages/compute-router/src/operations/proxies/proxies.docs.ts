import type { Resource } from '../../description/resource.js';
import { imageProxyFields, networkProxyFields, volumeProxyFields } from './proxy-fields.docs.js';

const LATER = 'Gone in 2.36, when the API stopped speaking for other services';

/** Operations of one path, each with its name and what it does. */
function gone(entries: Readonly<Record<string, readonly [name: string, what: string]>>): Resource['operations'] {
  return Object.fromEntries(
    Object.entries(entries).map(([key, [name, what]]) => [key, [name, `${what} ${LATER}.`] as const]),
  );
}

const tag = 'proxies';
const about =
  'What this API did in the name of the image, networking and volume services, up to 2.35, and with metadata of images up to 2.38. Ask those services.';

export const imageProxyDocs: Resource = {
  tag,
  about,
  parameters: { id: 'Id of the image, a UUID; below `metadata` the key of the item' },
  when: { 413: 'There would be more items than the quota allows' },
  operations: {
    ...gone({
      'GET /images': ['listImages', 'Ids and names of the images that the caller may use.'],
      'GET /images/detail': ['listImagesDetail', 'The same images with all that this API knows of them.'],
      'GET /images/{id}': ['showImage', 'One image.'],
      'DELETE /images/{id}': ['deleteImage', 'Deletes an image.'],
    }),
    'GET /images/{image_id}/metadata': [
      'listImageMetadata',
      'The properties of an image. Gone in 2.39, with the quota for them.',
    ],
    'POST /images/{image_id}/metadata': ['updateImageMetadata', 'Sets properties; others stay. Gone in 2.39.'],
    'PUT /images/{image_id}/metadata': ['replaceImageMetadata', 'Replaces all properties of an image. Gone in 2.39.'],
    'GET /images/{image_id}/metadata/{id}': ['showImageMetadataItem', 'One property. Gone in 2.39.'],
    'PUT /images/{image_id}/metadata/{id}': ['updateImageMetadataItem', 'Sets one property. Gone in 2.39.'],
    'DELETE /images/{image_id}/metadata/{id}': ['deleteImageMetadataItem', 'Removes one property. Gone in 2.39.'],
  },
  fields: imageProxyFields,
};

export const networkProxyDocs: Resource = {
  tag,
  about,
  parameters: {
    id: 'Id of the network, floating address, security group or rule; for fixed addresses the address, for bulk lists the host',
    domain_id: 'Name of the domain',
  },
  operations: gone({
    'GET /os-networks': [
      'listNetworks',
      'The networks of the project, with fields of which most belong to a networking service that is no more.',
    ],
    'GET /os-networks/{id}': ['showNetwork', 'One network.'],
    'GET /os-tenant-networks': ['listTenantNetworks', 'The networks of the project, in short.'],
    'GET /os-tenant-networks/{id}': ['showTenantNetwork', 'One network, in short.'],
    'GET /os-floating-ip-pools': ['listFloatingIpPools', 'The networks that floating addresses come from.'],
    'GET /os-floating-ips': ['listFloatingIps', 'The floating addresses of the project.'],
    'POST /os-floating-ips': ['createFloatingIp', 'Takes a floating address from a pool.'],
    'GET /os-floating-ips/{id}': ['showFloatingIp', 'One floating address.'],
    'DELETE /os-floating-ips/{id}': ['deleteFloatingIp', 'Gives a floating address back to its pool.'],
    'GET /os-floating-ips-bulk': [
      'listFloatingIpsBulk',
      'Floating addresses with what they lead to: all for administrators, those of the project for others.',
    ],
    'GET /os-floating-ips-bulk/{id}': [
      'listFloatingIpsOfHost',
      'The floating addresses of the servers on a host; others than administrators see no hosts.',
    ],
    'GET /os-floating-ip-dns': ['listFloatingIpDomains', 'Domains of floating addresses. There are none.'],
    'GET /os-floating-ip-dns/{domain_id}/entries/{id}': [
      'showFloatingIpDnsEntry',
      'A name of a floating address. There are none.',
    ],
    'GET /os-fixed-ips/{id}': ['showFixedIp', 'Which server has an address; for administrators.'],
    'GET /os-security-groups': ['listSecurityGroups', 'The security groups of the project with their rules.'],
    'POST /os-security-groups': ['createSecurityGroup', 'Makes a security group without rules for incoming traffic.'],
    'GET /os-security-groups/{id}': ['showSecurityGroup', 'One security group with its rules.'],
    'PUT /os-security-groups/{id}': ['updateSecurityGroup', 'Changes name and description.'],
    'DELETE /os-security-groups/{id}': ['deleteSecurityGroup', 'Deletes a security group that no port is in.'],
    'POST /os-security-group-rules': ['createSecurityGroupRule', 'Adds a rule to a security group.'],
    'DELETE /os-security-group-rules/{id}': ['deleteSecurityGroupRule', 'Removes a rule.'],
  }),
  fields: networkProxyFields,
};

export const volumeProxyDocs: Resource = {
  tag,
  about,
  parameters: { id: 'Id of the volume, snapshot or node, a UUID' },
  operations: gone({
    'GET /os-volumes': ['listVolumes', 'The volumes of the project.'],
    'GET /os-volumes/detail': ['listVolumesDetail', 'The same as the list: volumes are always shown whole.'],
    'POST /os-volumes': ['createVolume', 'Makes a volume, empty or from a snapshot.'],
    'GET /os-volumes/{id}': ['showVolume', 'One volume.'],
    'DELETE /os-volumes/{id}': ['deleteVolume', 'Deletes a volume that no server uses.'],
    'GET /os-snapshots': ['listSnapshots', 'The snapshots of volumes of the project.'],
    'GET /os-snapshots/detail': ['listSnapshotsDetail', 'The same as the list: snapshots are always shown whole.'],
    'POST /os-snapshots': ['createSnapshot', 'Takes a snapshot of a volume.'],
    'GET /os-snapshots/{id}': ['showSnapshot', 'One snapshot.'],
    'DELETE /os-snapshots/{id}': ['deleteSnapshot', 'Deletes a snapshot.'],
    'GET /os-baremetal-nodes': ['listBaremetalNodes', 'Bare metal nodes. There are none.'],
    'GET /os-baremetal-nodes/{id}': ['showBaremetalNode', 'A bare metal node. There are none.'],
    'POST /os-baremetal-nodes': ['createBaremetalNode', 'Always refused: nodes are made by their own service.'],
    'DELETE /os-baremetal-nodes/{id}': [
      'deleteBaremetalNode',
      'Always refused: nodes are deleted by their own service.',
    ],
    'POST /os-baremetal-nodes/{id}/action add_interface': [
      'addBaremetalNodeInterface',
      'Always refused: nodes are changed by their own service.',
    ],
    'POST /os-baremetal-nodes/{id}/action remove_interface': [
      'removeBaremetalNodeInterface',
      'Always refused: nodes are changed by their own service.',
    ],
  }),
  fields: volumeProxyFields,
};
