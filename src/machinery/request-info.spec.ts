import { parseRequestInfo } from './request-info.js';

/** verb | prefix | group | version | namespace | resource | subresource | name | parts */
const shown = (method: string, url: string): string => {
  const info = parseRequestInfo(method, url);
  if (info.error) return `error ${info.error.code}`;
  if (!info.isResourceRequest) return `${info.verb} ${info.path}`;
  const { verb, apiPrefix, group, version, namespace, resource, subresource, name, parts } = info;
  return [verb, apiPrefix, group, version, namespace, resource, subresource, name, parts.join(',')].join('|');
};

describe('parseRequestInfo', () => {
  it.each([
    // outside the API
    ['GET', '/', 'get /'],
    ['GET', '', 'get '],
    ['GET', '/healthz', 'get /healthz'],
    ['POST', '/livez/ping', 'post /livez/ping'],
    ['GET', '/api', 'get /api'],
    ['GET', '/api/', 'get /api/'],
    ['GET', '/api/v1', 'get /api/v1'],
    ['DELETE', '/api/v1/', 'delete /api/v1/'],
    ['GET', '/apis', 'get /apis'],
    ['GET', '/apis/apps', 'get /apis/apps'],
    ['GET', '/apis/apps/v1', 'get /apis/apps/v1'],
    ['GET', '/apis/apps/v1/', 'get /apis/apps/v1/'],
    ['GET', '/other/v1/pods', 'get /other/v1/pods'],
    ['GET', '//api/v1', 'get //api/v1'],
    ['OPTIONS', '*', 'options *'],
    ['GET', '/a%20b', 'get /a b'],
    ['GET', '/version?x=1', 'get /version'],
    // core group
    ['GET', '/api/v1/pods', 'list|api||v1||pods|||pods'],
    ['GET', '/api/v1/namespaces/web/pods', 'list|api||v1|web|pods|||pods'],
    ['GET', '/api/v1/namespaces/web/pods/', 'list|api||v1|web|pods|||pods'],
    ['GET', '/api/v1/namespaces/web/pods/p', 'get|api||v1|web|pods||p|pods,p'],
    ['GET', '/api/v1/namespaces/web/pods/p/', 'get|api||v1|web|pods||p|pods,p'],
    ['HEAD', '/api/v1/namespaces/web/pods/p', 'get|api||v1|web|pods||p|pods,p'],
    ['HEAD', '/api/v1/namespaces/web/pods', 'list|api||v1|web|pods|||pods'],
    ['POST', '/api/v1/namespaces/web/pods', 'create|api||v1|web|pods|||pods'],
    ['PUT', '/api/v1/namespaces/web/pods/p', 'update|api||v1|web|pods||p|pods,p'],
    ['PATCH', '/api/v1/namespaces/web/pods/p', 'patch|api||v1|web|pods||p|pods,p'],
    ['DELETE', '/api/v1/namespaces/web/pods/p', 'delete|api||v1|web|pods||p|pods,p'],
    ['DELETE', '/api/v1/namespaces/web/pods', 'deletecollection|api||v1|web|pods|||pods'],
    ['OPTIONS', '/api/v1/namespaces/web/pods', '|api||v1|web|pods|||pods'],
    ['TRACE', '/api/v1/nodes/n', '|api||v1||nodes||n|nodes,n'],
    ['GET', '/api/v1/nodes', 'list|api||v1||nodes|||nodes'],
    ['GET', '/api/v1/nodes/n', 'get|api||v1||nodes||n|nodes,n'],
    ['GET', '/api/v1/namespaces//pods', 'list|api||v1||pods|||pods'],
    ['GET', '/api/v1//pods', 'get|api||v1||||pods|,pods'],
    // subresources
    ['GET', '/api/v1/namespaces/web/pods/p/log', 'get|api||v1|web|pods|log|p|pods,p,log'],
    ['PUT', '/api/v1/namespaces/web/pods/p/status', 'update|api||v1|web|pods|status|p|pods,p,status'],
    ['POST', '/api/v1/namespaces/web/pods/p/eviction', 'create|api||v1|web|pods|eviction|p|pods,p,eviction'],
    ['GET', '/api/v1/namespaces/web/pods/p/proxy/a/b', 'get|api||v1|web|pods|proxy|p|pods,p,proxy,a,b'],
    ['GET', '/api/v1/nodes/n/proxy/', 'get|api||v1||nodes|proxy|n|nodes,n,proxy'],
    ['POST', '/api/v1/nodes/n:10250/proxy/x', 'create|api||v1||nodes|proxy|n:10250|nodes,n:10250,proxy,x'],
    // namespaces are a resource themselves
    ['GET', '/api/v1/namespaces', 'list|api||v1||namespaces|||namespaces'],
    ['POST', '/api/v1/namespaces', 'create|api||v1||namespaces|||namespaces'],
    ['GET', '/api/v1/namespaces/web', 'get|api||v1|web|namespaces||web|namespaces,web'],
    ['DELETE', '/api/v1/namespaces/web', 'delete|api||v1|web|namespaces||web|namespaces,web'],
    ['PUT', '/api/v1/namespaces/web/status', 'update|api||v1|web|namespaces|status|web|namespaces,web,status'],
    ['PUT', '/api/v1/namespaces/web/finalize', 'update|api||v1|web|namespaces|finalize|web|namespaces,web,finalize'],
    ['GET', '/api/v1/namespaces/web/nothings/x', 'get|api||v1|web|nothings||x|nothings,x'],
    // named groups
    ['GET', '/apis/apps/v1/deployments', 'list|apis|apps|v1||deployments|||deployments'],
    ['GET', '/apis/apps/v1/namespaces/web/deployments/d', 'get|apis|apps|v1|web|deployments||d|deployments,d'],
    [
      'PATCH',
      '/apis/apps/v1/namespaces/web/deployments/d/scale',
      'patch|apis|apps|v1|web|deployments|scale|d|deployments,d,scale',
    ],
    [
      'GET',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/a:b',
      'get|apis|rbac.authorization.k8s.io|v1||clusterroles||a:b|clusterroles,a:b',
    ],
    ['GET', '/apis/x.io/v1/namespaces', 'list|apis|x.io|v1||namespaces|||namespaces'],
    // watches
    ['GET', '/api/v1/pods?watch=1', 'watch|api||v1||pods|||pods'],
    ['GET', '/api/v1/pods?watch=true', 'watch|api||v1||pods|||pods'],
    ['GET', '/api/v1/pods?watch=maybe', 'watch|api||v1||pods|||pods'],
    ['GET', '/api/v1/pods?watch', 'watch|api||v1||pods|||pods'],
    ['GET', '/api/v1/pods?watch=0', 'list|api||v1||pods|||pods'],
    ['GET', '/api/v1/pods?watch=False', 'list|api||v1||pods|||pods'],
    ['GET', '/api/v1/pods?watch=0&watch=1', 'list|api||v1||pods|||pods'],
    ['GET', '/api/v1/namespaces/web/pods/p?watch=1', 'get|api||v1|web|pods||p|pods,p'],
    ['GET', '/api/v1/watch/pods', 'watch|api||v1||pods|||pods'],
    ['GET', '/api/v1/watch/namespaces', 'watch|api||v1||namespaces|||namespaces'],
    ['GET', '/api/v1/watch/namespaces/web/pods', 'watch|api||v1|web|pods|||pods'],
    ['GET', '/api/v1/watch/namespaces/web/pods/p', 'watch|api||v1|web|pods||p|pods,p'],
    ['GET', '/apis/apps/v1/watch/deployments', 'watch|apis|apps|v1||deployments|||deployments'],
    ['GET', '/api/v1/watch', 'error 400'],
    ['GET', '/api/v1/proxy/namespaces/web/pods/p/a', 'proxy|api||v1|web|pods||p|pods,p,a'],
    // a name in the field selector
    ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Dp', 'list|api||v1||pods||p|pods'],
    ['GET', '/api/v1/pods?watch=1&fieldSelector=metadata.name=p,spec.x=y', 'watch|api||v1||pods||p|pods'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name!=p', 'list|api||v1||pods|||pods'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name=a/b', 'list|api||v1||pods|||pods'],
    ['GET', '/api/v1/pods?fieldSelector=nonsense', 'list|api||v1||pods|||pods'],
    ['DELETE', '/api/v1/pods?fieldSelector=metadata.name=p', 'deletecollection|api||v1||pods|||pods'],
    // escapes
    ['GET', '/api/v1/namespaces/web/pods/a%2Fb', 'get|api||v1|web|pods|b|a|pods,a,b'],
    ['GET', '/api/v1/namespaces/web/pods/%C3%A9', 'get|api||v1|web|pods||é|pods,é'],
    ['GET', '/api/v1/namespaces/web/pods/%FF', 'get|api||v1|web|pods||\ufffd|pods,\ufffd'],
    ['GET', '/api/v1/pods/%zz', 'error 400'],
    ['GET', '/api/v1/pods/%4', 'error 400'],
    [
      'GET',
      '/api/v1/namespaces/__proto__/constructor/toString',
      'get|api||v1|__proto__|constructor||toString|constructor,toString',
    ],
    ['GET', 'https://host:6443/api/v1/pods?watch=1', 'watch|api||v1||pods|||pods'],
    ['GET', 'https://host', 'get /'],
  ])('%s %s', (method, url, want) => {
    expect(shown(method, url)).toBe(want);
  });

  it('does not parse the query before its first use', () => {
    const { query } = parseRequestInfo('GET', '/api/v1/namespaces/web/pods/p?pretty=true');
    expect(query.raw).toBe('pretty=true');
    expect(query.first('pretty')).toBe('true');
  });
});
