const lengthMax = 64;

/** Returns an audit id for lines of the server's log, cut as in kube-apiserver: a client can choose a long one. */
export const shownAuditId = (auditId: string): string => auditId.slice(0, lengthMax);
