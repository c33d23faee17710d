import { machineAction } from './machine-action.js';

/** Resumes a suspended server. */
export const resume = machineAction({
  name: 'resume',
  vmStates: ['suspended'],
  needs: 'resume',
  lock: true,
  during: ['resuming'],
  history: 'resume',
  notifies: 'resume',
  onFailure: 'error',
  work: { verb: 'resume' },
  event: 'compute_resume_instance',
  vmState: 'active',
  powerState: 1,
});
