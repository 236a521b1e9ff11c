import { groupNames, type UserInfo } from '../../machinery/user-info.js';

const nodeUserPrefix = 'system:node:';

/** The node that a user is; '' for one of their group without a name of theirs, undefined for everybody else. */
export function nodeOf({ name, groups }: UserInfo): string | undefined {
  if (!groups.includes(groupNames.nodes)) return undefined;
  return name.startsWith(nodeUserPrefix) ? name.slice(nodeUserPrefix.length) : '';
}
