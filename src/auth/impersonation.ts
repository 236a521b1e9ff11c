import { ApiError } from '../machinery/api-error.js';
import { goQuote } from '../machinery/field-error.js';
import { headerText } from '../machinery/header-text.js';
import { percentDecode } from '../machinery/query.js';
import {
  allAuthenticated,
  allUnauthenticated,
  parseServiceAccountUserName,
  serviceAccountGroups,
  userNames,
  type UserInfo,
} from '../machinery/user-info.js';

export interface Impersonation {
  readonly user: UserInfo;
  /** As the headers say, before groups that follow from the user were added. */
  readonly named: { readonly groups: readonly string[]; readonly extra: Readonly<Record<string, readonly string[]>> };
}

/** One right that the real user needs. */
export interface ImpersonationCheck {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

const extraPrefix = 'impersonate-extra-';

/** Read from the raw headers: Node joins repeated ones, and a group's name may hold a comma. */
export function impersonationOf(rawHeaders: readonly string[]): Impersonation | undefined {
  let name: string | undefined = undefined;
  let uid: string | undefined = undefined;
  const groups: string[] = [];
  const extra: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  let found = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i]!.toLowerCase();
    if (!header.startsWith('impersonate-')) continue;
    const value = headerText(rawHeaders[i + 1]!);
    if (value === undefined) throw ApiError.badRequest(`the value of the header ${header} is not UTF-8`);
    // The first one counts, as for Go's Header.Get: a proxy in front may have looked at it.
    if (header === 'impersonate-user') name ??= value;
    else if (header === 'impersonate-uid') uid ??= value;
    else if (header === 'impersonate-group') groups.push(value);
    else if (header.startsWith(extraPrefix)) {
      const raw = header.slice(extraPrefix.length);
      (extra[percentDecode(raw) ?? raw] ??= []).push(value);
    } else continue;
    found = true;
  }
  return found ? wantedUser(name ?? '', uid ?? '', groups, extra) : undefined;
}

function wantedUser(
  name: string,
  uid: string,
  groups: readonly string[],
  extra: Readonly<Record<string, readonly string[]>>,
): Impersonation | undefined {
  if (name === '') {
    if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
    throw ApiError.badRequest(
      `requested user with uid ${goQuote(uid)}, groups [${groups.map(goQuote).join(' ')}] and extra keys [${Object.keys(extra).map(goQuote).join(' ')}] without impersonating a user name`,
    );
  }
  return { user: { name, uid, groups: groupsOf(name, groups), extra }, named: { groups, extra } };
}

/** A service account that comes without groups gets its own; everybody but the anonymous is authenticated. */
function groupsOf(name: string, named: readonly string[]): readonly string[] {
  const account = parseServiceAccountUserName(name);
  const groups = named.length === 0 && account ? [...serviceAccountGroups(account.namespace)] : [...named];
  const isAnonymous = name === userNames.anonymous;
  const isKnown = groups.includes(allUnauthenticated) || (!isAnonymous && groups.includes(allAuthenticated));
  if (!isKnown) groups.push(isAnonymous ? allUnauthenticated : allAuthenticated);
  return groups;
}

export function impersonationChecks(wanted: Impersonation, authenticationGroup: string): ImpersonationCheck[] {
  const check = (resource: string, name: string, more: Partial<ImpersonationCheck> = {}): ImpersonationCheck => ({
    group: '',
    resource,
    subresource: '',
    namespace: '',
    name,
    ...more,
  });
  const account = parseServiceAccountUserName(wanted.user.name);
  const checks = [
    account
      ? check('serviceaccounts', account.name, { namespace: account.namespace })
      : check('users', wanted.user.name),
    ...wanted.named.groups.map((group) => check('groups', group)),
  ];
  for (const [key, values] of Object.entries(wanted.named.extra)) {
    for (const value of values)
      checks.push(check('userextras', value, { group: authenticationGroup, subresource: key }));
  }
  if (wanted.user.uid !== '') checks.push(check('uids', wanted.user.uid, { group: authenticationGroup }));
  return checks;
}
