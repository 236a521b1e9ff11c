import { ApiGroup } from '../../registry/apis/api-group.js';
import { flowcontrolResources, flowcontrolVersion } from './flowcontrol.resources.js';

@ApiGroup((naming) => ({
  ...flowcontrolVersion(naming),
  groupPriority: 16100,
  versionPriority: 21,
  resources: flowcontrolResources(naming),
}))
export class FlowcontrolGroup {}
