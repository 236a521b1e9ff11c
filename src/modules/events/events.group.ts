import { ApiGroup } from '../../registry/apis/api-group.js';
import { eventsResources, eventsVersion } from './events.resources.js';

@ApiGroup((naming) => ({
  ...eventsVersion(naming),
  groupPriority: 17750,
  resources: eventsResources(naming),
}))
export class EventsGroup {}
