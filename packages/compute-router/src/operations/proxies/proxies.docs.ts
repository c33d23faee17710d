import type { Resource } from '../../reference/resource.js';
import { imageProxyFields, networkProxyFields, volumeProxyFields } from './proxy-fields.docs.js';

const tag = 'proxies';
const about =
  'Proxies for the image, networking and volume services. Removed in 2.36, and in 2.39 for image metadata. Use the APIs of those services.';

export const imageProxyDocs: Resource = {
  tag,
  about,
  parameters: { id: 'UUID of the image. Below `metadata`: the key of the item.' },
  when: { 413: 'The quota for metadata items is exceeded.' },
  operations: {
    'GET /images': ['listImages', 'Lists IDs and names of the images that the caller can use.'],
    'GET /images/detail': ['listImagesDetail', 'Lists images with details.'],
    'GET /images/{id}': ['showImage', 'Shows an image.'],
    'DELETE /images/{id}': ['deleteImage', 'Deletes an image.'],
    'GET /images/{image_id}/metadata': ['listImageMetadata', 'Lists the metadata of an image.'],
    'POST /images/{image_id}/metadata': [
      'updateImageMetadata',
      'Creates or replaces metadata items of an image. Other items are unchanged.',
    ],
    'PUT /images/{image_id}/metadata': ['replaceImageMetadata', 'Replaces all metadata of an image.'],
    'GET /images/{image_id}/metadata/{id}': ['showImageMetadataItem', 'Shows a metadata item of an image.'],
    'PUT /images/{image_id}/metadata/{id}': [
      'updateImageMetadataItem',
      'Creates or replaces a metadata item of an image.',
    ],
    'DELETE /images/{image_id}/metadata/{id}': ['deleteImageMetadataItem', 'Deletes a metadata item of an image.'],
  },
  fields: imageProxyFields,
};

export const networkProxyDocs: Resource = {
  tag,
  about,
  parameters: {
    id: 'ID of the network, floating IP address, security group or rule. For fixed IP addresses: the address. For bulk lists: the host.',
    domain_id: 'Name of the DNS domain.',
  },
  operations: {
    'GET /os-networks': [
      'listNetworks',
      'Lists the networks of the project. Fields of the removed networking service are null.',
    ],
    'GET /os-networks/{id}': ['showNetwork', 'Shows a network.'],
    'GET /os-tenant-networks': ['listTenantNetworks', 'Lists the networks of the project without details.'],
    'GET /os-tenant-networks/{id}': ['showTenantNetwork', 'Shows a network without details.'],
    'GET /os-floating-ip-pools': ['listFloatingIpPools', 'Lists the pools of floating IP addresses.'],
    'GET /os-floating-ips': ['listFloatingIps', 'Lists the floating IP addresses of the project.'],
    'POST /os-floating-ips': ['createFloatingIp', 'Allocates a floating IP address from a pool.'],
    'GET /os-floating-ips/{id}': ['showFloatingIp', 'Shows a floating IP address.'],
    'DELETE /os-floating-ips/{id}': ['deleteFloatingIp', 'Releases a floating IP address.'],
    'GET /os-floating-ips-bulk': [
      'listFloatingIpsBulk',
      'Lists floating IP addresses with their servers: all for administrators, those of the project for other callers.',
    ],
    'GET /os-floating-ips-bulk/{id}': [
      'listFloatingIpsOfHost',
      'Lists the floating IP addresses of the servers on a host. Only administrators see hosts.',
    ],
    'GET /os-floating-ip-dns': [
      'listFloatingIpDomains',
      'Lists the DNS domains of floating IP addresses. Always empty.',
    ],
    'GET /os-floating-ip-dns/{domain_id}/entries/{id}': [
      'showFloatingIpDnsEntry',
      'Shows a DNS entry of a floating IP address. Always returns 404.',
    ],
    'GET /os-fixed-ips/{id}': ['showFixedIp', 'Shows the server that uses a fixed IP address.'],
    'GET /os-security-groups': ['listSecurityGroups', 'Lists the security groups of the project with their rules.'],
    'POST /os-security-groups': ['createSecurityGroup', 'Creates a security group without ingress rules.'],
    'GET /os-security-groups/{id}': ['showSecurityGroup', 'Shows a security group with its rules.'],
    'PUT /os-security-groups/{id}': [
      'updateSecurityGroup',
      'Updates the name and the description of a security group.',
    ],
    'DELETE /os-security-groups/{id}': [
      'deleteSecurityGroup',
      'Deletes a security group. The group must not be used by a port.',
    ],
    'POST /os-security-group-rules': ['createSecurityGroupRule', 'Creates a rule in a security group.'],
    'DELETE /os-security-group-rules/{id}': ['deleteSecurityGroupRule', 'Deletes a rule of a security group.'],
  },
  fields: networkProxyFields,
};

export const volumeProxyDocs: Resource = {
  tag,
  about,
  parameters: { id: 'UUID of the volume, snapshot or node.' },
  operations: {
    'GET /os-volumes': ['listVolumes', 'Lists the volumes of the project.'],
    'GET /os-volumes/detail': [
      'listVolumesDetail',
      'Lists the volumes of the project. Same response as the list without details.',
    ],
    'POST /os-volumes': ['createVolume', 'Creates an empty volume, or a volume from a snapshot.'],
    'GET /os-volumes/{id}': ['showVolume', 'Shows a volume.'],
    'DELETE /os-volumes/{id}': ['deleteVolume', 'Deletes a volume. The volume must not be attached to a server.'],
    'GET /os-snapshots': ['listSnapshots', 'Lists the volume snapshots of the project.'],
    'GET /os-snapshots/detail': [
      'listSnapshotsDetail',
      'Lists the volume snapshots of the project. Same response as the list without details.',
    ],
    'POST /os-snapshots': ['createSnapshot', 'Creates a snapshot of a volume.'],
    'GET /os-snapshots/{id}': ['showSnapshot', 'Shows a volume snapshot.'],
    'DELETE /os-snapshots/{id}': ['deleteSnapshot', 'Deletes a volume snapshot.'],
    'GET /os-baremetal-nodes': ['listBaremetalNodes', 'Lists bare metal nodes. Always empty.'],
    'GET /os-baremetal-nodes/{id}': ['showBaremetalNode', 'Shows a bare metal node. Always returns 404.'],
    'POST /os-baremetal-nodes': ['createBaremetalNode', 'Always rejected. Use the bare metal service to create nodes.'],
    'DELETE /os-baremetal-nodes/{id}': [
      'deleteBaremetalNode',
      'Always rejected. Use the bare metal service to delete nodes.',
    ],
    'POST /os-baremetal-nodes/{id}/action add_interface': [
      'addBaremetalNodeInterface',
      'Always rejected. Use the bare metal service to change nodes.',
    ],
    'POST /os-baremetal-nodes/{id}/action remove_interface': [
      'removeBaremetalNodeInterface',
      'Always rejected. Use the bare metal service to change nodes.',
    ],
  },
  fields: volumeProxyFields,
};
