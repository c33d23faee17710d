import { day } from './day/day.js';
import { runDay } from './run-day.js';

runDay('a day with the openstack command', day);
