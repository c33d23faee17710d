import type { Resource } from '../../reference/resource.js';

export const interfaceDocs: Resource = {
  tag: 'interfaces',
  about: 'Port interfaces of servers.',
  parameters: { id: 'UUID of the port.' },
  when: {
    409: 'The state or the lock of the server does not allow it, or another server uses the port.',
    501: 'The driver does not support changing interfaces of a running server, or the cloud has no networking service.',
  },
  operations: {
    'GET /servers/{server_id}/os-interface': ['listServerInterfaces', 'Lists the ports of a server.'],
    'POST /servers/{server_id}/os-interface': [
      'createServerInterface',
      'Attaches a port to a server: an existing port, or a new one on a network. Synchronous: the response is sent after the port is attached. The server must be `ACTIVE`, `PAUSED` or `SHUTOFF`.',
    ],
    'GET /servers/{server_id}/os-interface/{id}': ['showServerInterface', 'Shows a port of a server.'],
    'DELETE /servers/{server_id}/os-interface/{id}': [
      'deleteServerInterface',
      'Detaches a port from a server. Asynchronous: poll the list of ports. A port that was created for the server is deleted; other ports are kept. The server must be `ACTIVE`, `PAUSED` or `SHUTOFF`.',
    ],
    'GET /servers/{server_id}/os-virtual-interfaces': [
      'listServerVirtualInterfaces',
      'Lists the virtual interfaces of a server. Replaced by the list of ports.',
    ],
  },
  fields: {
    interfaceAttachments: 'The list of ports.',
    interfaceAttachment: 'A port.',
    fixed_ips: 'Fixed IP addresses. In requests: at most one, and only with a network.',
    'fixed_ips.ip_address': 'The IP address.',
    'fixed_ips.subnet_id': 'UUID of the subnet.',
    mac_addr: 'MAC address.',
    net_id: 'UUID of the network.',
    port_id: 'UUID of the port.',
    port_state: 'Status of the port: `ACTIVE`, `DOWN`, `BUILD` or `ERROR`.',
    'body.interfaceAttachment.tag': 'Device tag, which the guest reads from its metadata.',
    tag: 'Device tag, which the guest reads from its metadata, or null.',
    virtual_interfaces: 'The list of virtual interfaces.',
    'virtual_interfaces.id': 'UUID of the interface.',
    'virtual_interfaces.mac_address': 'MAC address.',
    'virtual_interfaces.net_id': 'UUID of the network.',
  },
};

export const volumeAttachmentDocs: Resource = {
  tag: 'volume-attachments',
  about: 'Volumes that are attached to servers.',
  parameters: { id: 'UUID of the volume.' },
  when: { 409: 'The state or the lock of the server does not allow it.' },
  operations: {
    'GET /servers/{server_id}/os-volume_attachments': [
      'listVolumeAttachments',
      'Lists the volume attachments of a server.',
    ],
    'POST /servers/{server_id}/os-volume_attachments': [
      'createVolumeAttachment',
      'Attaches a volume to a server. Until 2.100, the response contains the device. Since 2.101, asynchronous: the response is 202 without a body; poll the list of attachments. Since 2.20, the server can be shelved; since 2.60, the volume can be a multiattach volume.',
      {
        400: 'The request body is malformed, the volume is not available, or the volume is a multiattach volume and the version is below 2.60.',
      },
    ],
    'GET /servers/{server_id}/os-volume_attachments/{id}': [
      'showVolumeAttachment',
      'Shows a volume attachment of a server.',
    ],
    'PUT /servers/{server_id}/os-volume_attachments/{id}': [
      'updateVolumeAttachment',
      'Replaces the volume of an attachment while the volume service migrates it. Asynchronous: poll the attachment. Since 2.85, also updates `delete_on_termination`.',
      { 409: 'The state or the lock of the server does not allow it, or the volume is not being migrated.' },
    ],
    'DELETE /servers/{server_id}/os-volume_attachments/{id}': [
      'deleteVolumeAttachment',
      'Detaches a volume from a server. Asynchronous: poll the list of attachments. Since 2.20, the server can be shelved.',
      {
        400: 'The volume is not attached to the server.',
        403: 'The policy does not allow it, or the volume is the root disk.',
      },
    ],
  },
  fields: {
    volumeAttachments: 'The volume attachments of this page.',
    volumeAttachment: 'A volume attachment.',
    id: 'Same as `volumeId`. In requests since 2.85: must equal the current value.',
    device:
      'Device name in the guest, such as `/dev/vdb`. The hypervisor can select a name other than the requested one.',
    serverId: 'UUID of the server. In requests since 2.85: must equal the ID in the path.',
    volumeId: 'UUID of the volume.',
    'body.volumeAttachment.tag': 'Device tag, which the guest reads from its metadata.',
    tag: 'Device tag, which the guest reads from its metadata, or null.',
    delete_on_termination: 'Whether the volume is deleted when the server is deleted. Default: false.',
    attachment_id: 'UUID of the attachment in the volume service.',
    bdm_uuid: 'UUID of the block device mapping.',
  },
};

export const shareDocs: Resource = {
  tag: 'shares',
  about: 'Shared file systems that are attached to servers.',
  parameters: { id: 'UUID of the share.' },
  when: { 409: 'The server is not stopped, or the share is in use or not available.' },
  operations: {
    'GET /servers/{server_id}/shares': ['listServerShares', 'Lists the shares of a server.'],
    'POST /servers/{server_id}/shares': [
      'createServerShare',
      'Attaches a share to a server. Asynchronous: poll the share until its status is `inactive` or `error`. The server must be `SHUTOFF`.',
    ],
    'GET /servers/{server_id}/shares/{id}': ['showServerShare', 'Shows a share of a server.'],
    'DELETE /servers/{server_id}/shares/{id}': [
      'deleteServerShare',
      'Detaches a share from a server. Asynchronous: poll the list of shares. The server must be `SHUTOFF` or `ERROR`.',
    ],
  },
  fields: {
    shares: 'The list of shares.',
    share: 'A share of a server.',
    share_id: 'UUID of the share.',
    status: 'Status of the attachment: `attaching`, `inactive`, `active`, `detaching` or `error`.',
    tag: 'Tag by which the guest mounts the share. Default: the UUID of the share.',
    uuid: 'UUID of the attachment. Administrators only.',
    export_location: 'Location from which the host mounts the share. Administrators only.',
  },
};
