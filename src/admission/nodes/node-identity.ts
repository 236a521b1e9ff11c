import { groupNames, type UserInfo } from '../../machinery/user-info.js';

const nodeUserPrefix = 'system:node:';

/** Returns the node that the user acts as; '' for a member of system:nodes without a node name, undefined for others. */
export function nodeOf({ name, groups }: UserInfo): string | undefined {
  if (!groups.includes(groupNames.nodes)) return undefined;
  return name.startsWith(nodeUserPrefix) ? name.slice(nodeUserPrefix.length) : '';
}
