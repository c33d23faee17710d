import type { Resource } from '../../description/resource.js';

export const interfaceDocs: Resource = {
  tag: 'interfaces',
  about: 'Ports of networks that servers are plugged into.',
  parameters: { id: 'Id of the port, a UUID' },
  when: {
    409: 'The state of the server or a lock does not allow it, or the port is used by another',
    501: 'The driver of the host cannot change interfaces of a running server, or the cloud has no networking service',
  },
  operations: {
    'GET /servers/{server_id}/os-interface': ['listServerInterfaces', 'The ports of a server with their addresses.'],
    'POST /servers/{server_id}/os-interface': [
      'createServerInterface',
      'Plugs a running server into a port or a network, and answers when it is done.',
    ],
    'GET /servers/{server_id}/os-interface/{id}': ['showServerInterface', 'One port of a server.'],
    'DELETE /servers/{server_id}/os-interface/{id}': [
      'deleteServerInterface',
      'Unplugs a port. One that was made for the server is deleted; one that was there before stays.',
    ],
    'GET /servers/{server_id}/os-virtual-interfaces': [
      'listServerVirtualInterfaces',
      'The interfaces of a server in the form of an older networking service. Gone in 2.44, with all that was made for it.',
    ],
  },
  fields: {
    interfaceAttachments: 'The ports',
    interfaceAttachment: 'A port',
    fixed_ips: 'Its addresses; in requests one at the most, and together with a network',
    'fixed_ips.ip_address': 'The address',
    'fixed_ips.subnet_id': 'Id of the subnet that the address is from, a UUID',
    mac_addr: 'Hardware address',
    net_id: 'Id of the network, a UUID',
    port_id: 'Id of the port, a UUID',
    port_state: '`ACTIVE` if traffic flows, `DOWN`, `BUILD` or `ERROR`',
    'body.interfaceAttachment.tag': 'Label by which the guest recognises the interface in its metadata. New in 2.49',
    tag: 'Label by which the guest recognises the interface in its metadata, or null. New in 2.70',
    virtual_interfaces: 'The interfaces',
    'virtual_interfaces.id': 'Id of the interface, a UUID',
    'virtual_interfaces.mac_address': 'Hardware address',
    'virtual_interfaces.net_id': 'Id of the network, a UUID. New in 2.12',
  },
};

export const volumeAttachmentDocs: Resource = {
  tag: 'volume-attachments',
  about: 'Volumes that servers have as disks.',
  parameters: { id: 'Id of the volume, a UUID' },
  when: { 409: 'The state of the server or a lock does not allow it' },
  operations: {
    'GET /servers/{server_id}/os-volume_attachments': ['listVolumeAttachments', 'The volumes of a server.'],
    'POST /servers/{server_id}/os-volume_attachments': [
      'createVolumeAttachment',
      'Attaches a volume: from 2.20 on to a shelved server too, from 2.60 on one that several servers may share. Up to 2.100 it is known at once where; from 2.101 on the answer is a 202 without a body, and the list tells.',
      { 400: 'The body is malformed, the volume is not free, or it is shared and the version is below 2.60' },
    ],
    'GET /servers/{server_id}/os-volume_attachments/{id}': ['showVolumeAttachment', 'One volume of a server.'],
    'PUT /servers/{server_id}/os-volume_attachments/{id}': [
      'updateVolumeAttachment',
      'Exchanges a volume for the one that the volume service is migrating it to. From 2.85 on owners can say with it whether the volume is deleted with the server.',
      { 409: 'The state of the server or a lock does not allow it, or the volume is not being migrated' },
    ],
    'DELETE /servers/{server_id}/os-volume_attachments/{id}': [
      'deleteVolumeAttachment',
      'Detaches a volume; from 2.20 on from a shelved server too.',
      { 400: 'The volume is not attached here', 403: 'The policy does not allow it, or it is the root disk' },
    ],
  },
  fields: {
    volumeAttachments: 'The volumes of this page',
    volumeAttachment: 'A volume of a server',
    id: 'The same as `volumeId`; up to 2.88, since it looked like an id of the attachment. In requests from 2.85 on it must be the present one',
    device: 'Device in the guest, such as `/dev/vdb`; hypervisors may choose another than was asked for',
    serverId: 'Id of the server, a UUID; in requests from 2.85 on it must be that of the path',
    volumeId: 'Id of the volume, a UUID',
    'body.volumeAttachment.tag': 'Label by which the guest recognises the disk in its metadata. New in 2.49',
    tag: 'Label by which the guest recognises the disk in its metadata, or null. New in 2.70',
    delete_on_termination: 'Whether the volume is deleted with the server. New in 2.79; in changes in 2.85',
    attachment_id: 'Id of the attachment in the volume service, a UUID. New in 2.89',
    bdm_uuid: 'Id of the record that this API keeps of it, a UUID. New in 2.89',
  },
};

export const shareDocs: Resource = {
  tag: 'shares',
  about: 'Shared file systems that guests can mount. New in 2.97.',
  parameters: { id: 'Id of the share, a UUID' },
  when: { 409: 'The server is not stopped, or the share is in use or not ready' },
  operations: {
    'GET /servers/{server_id}/shares': ['listServerShares', 'The shares of a server.'],
    'POST /servers/{server_id}/shares': ['createServerShare', 'Attaches a share to a stopped server.'],
    'GET /servers/{server_id}/shares/{id}': ['showServerShare', 'One share of a server.'],
    'DELETE /servers/{server_id}/shares/{id}': ['deleteServerShare', 'Detaches a share from a stopped server.'],
  },
  fields: {
    shares: 'The shares',
    share: 'A share of a server',
    share_id: 'Id of the share, a UUID',
    status: '`attaching`, `inactive`, `active`, `detaching` or `error`',
    tag: 'Name by which the guest mounts it; default: the id of the share',
    uuid: 'Id of the attachment, a UUID; for administrators',
    export_location: 'Where the host mounts it from; for administrators',
  },
};
