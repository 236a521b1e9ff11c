type HasConditions<Time extends string> = {
  status?: { conditions?: { [Name in Time]?: string | null | undefined }[] | null | undefined } | undefined;
};

/** Sets absent times of conditions to null. Go writes these fields always, and clients rely on them. */
export function fillConditionTimes<Time extends string>(object: HasConditions<Time>, ...times: Time[]): void {
  for (const condition of object.status?.conditions ?? []) for (const time of times) condition[time] ??= null;
}
