import { afterAll } from 'vitest';
import { converse } from './conversation.js';
import { sampleFile } from './sample-file.js';

const file = sampleFile();
afterAll(() => file.remove());

const CONSUMER = '7b0e3f6c-54b5-4e39-9f0a-2f5f4e1d3c21';
const AGGREGATE = '0f6a9c1c-9c53-4d75-8a3e-6f3f6c2a9b10';

converse(
  'openstack',
  [
    { run: 'resource provider list', expects: /host1/, captures: { host: /\| (\S{36}) \| host1/ } },
    { run: 'resource provider show $host', expects: /\| name +\| host1 / },
    { run: 'resource provider inventory list $host', expects: [/MEMORY_MB/, /VCPU/] },
    { run: 'resource provider usage show $host', expects: /\| VCPU +\| +0 / },
    { run: 'resource provider trait list $host', expects: /COMPUTE_/ },
    { run: 'resource class list', expects: /VGPU/ },
    { run: 'trait list --name startswith:HW_CPU_X86_AVX', expects: /HW_CPU_X86_AVX2/ },
    { run: 'allocation candidate list --resource VCPU=1 --resource MEMORY_MB=64', expects: /VCPU=1,MEMORY_MB=64/ },
    { run: 'resource class create CUSTOM_GPU' },
    { run: 'resource provider create edge', captures: { edge: /\| uuid +\| (\S{36}) / } },
    { run: 'resource provider set --name rim $edge', expects: /\| name +\| rim / },
    {
      run: 'resource provider inventory set --resource VCPU=4 --resource CUSTOM_GPU=1 $edge',
      expects: [/CUSTOM_GPU/, /VCPU/],
    },
    { run: 'resource provider inventory class set --total 8 $edge VCPU', expects: /\| total +\| 8 / },
    { run: 'resource provider trait set --trait HW_NIC_SRIOV $edge', expects: /HW_NIC_SRIOV/ },
    { run: 'resource provider show $edge', captures: { generation: /\| generation +\| (\d+) / } },
    {
      run: `resource provider aggregate set --aggregate ${AGGREGATE} --generation $generation $edge`,
      expects: new RegExp(AGGREGATE),
    },
    { run: 'resource provider aggregate list $edge', expects: new RegExp(AGGREGATE) },
    {
      run: `resource provider allocation set --allocation rp=$edge,VCPU=2 --project-id p --user-id u ${CONSUMER}`,
      expects: /VCPU/,
    },
    { run: `resource provider allocation show ${CONSUMER}`, expects: /'VCPU': 2/ },
    { run: 'resource usage show p', expects: /\| VCPU +\| +2 / },
    // As in the original, capacity may fall below what is in use.
    { run: 'resource provider inventory class set --total 1 $edge VCPU', expects: /\| total +\| 1 / },
    { run: `resource provider allocation delete ${CONSUMER}` },
    { run: 'resource provider inventory delete --resource-class CUSTOM_GPU $edge' },
    { run: 'resource class delete CUSTOM_GPU' },
    { run: 'resource provider trait delete $edge' },
    { run: 'resource provider delete $edge' },
    { run: 'resource provider show $edge', fails: /No resource provider with uuid/ },
  ],
  { file: () => file.path, env: { OS_PLACEMENT_API_VERSION: '1.29' }, plugin: 'osc_placement' },
);
