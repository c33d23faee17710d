import { day } from './day.js';
import { runDay } from './run-day.js';

runDay('a day with the openstack command', day);
