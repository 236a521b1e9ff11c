#!/bin/sh
# Creates the certificates and keys of an etcd cluster and of the servers on it, with openssl:
#
#   make-certificates.sh DIRECTORY [NAME_OR_ADDRESS...]
#
# The names and addresses are those by which clients reach the servers and members reach each other, the load balancer
# first. Existing files are kept; with RENEW=1 certificates are issued again, with the same keys and CAs.
#
#   DIRECTORY/etcd/ca.crt, ca.key           CA of etcd alone: its clients may change every object
#   DIRECTORY/etcd/member.crt, member.key   members, as servers and as peers
#   DIRECTORY/etcd/client.crt, client.key   servers of the cluster, as clients of etcd
#   DIRECTORY/pki/                          --cert-dir of every server: CA, serving certificate, administrator, sa.key
#   DIRECTORY/admin.kubeconfig              the first administrator; the group system:masters is allowed everything
#
# Keep etcd/ca.key, pki/ca.key, pki/sa.key and admin.kubeconfig as carefully as a root password.
set -eu

command -v openssl >/dev/null || {
  echo 'make-certificates.sh needs openssl' >&2
  exit 1
}
if [ $# -lt 1 ]; then
  sed -n '2,4p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 2
fi
directory=$1
shift
umask 077
mkdir -p "$directory/etcd" "$directory/pki"
cd "$directory"

ca_days=3650
leaf_days=365
front=${1:-127.0.0.1}

# The value of subjectAltName for names and addresses.
alternative_names() {
  list=
  for name in "$@"; do
    case $name in
      *:* | *[0-9].[0-9]*.[0-9]*.[0-9]*) list="$list,IP:$name" ;;
      *) list="$list,DNS:$name" ;;
    esac
  done
  printf '%s' "${list#,}"
}

key() {
  [ -s "$1" ] || openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null
}

# authority FILE COMMON_NAME
authority() {
  key "$1.key"
  [ -s "$1.crt" ] || openssl req -x509 -new -key "$1.key" -out "$1.crt" -days "$ca_days" -subj "/CN=$2" \
    -addext 'keyUsage=critical,keyCertSign,cRLSign,digitalSignature'
}

# leaf FILE CA SUBJECT USAGES [ALTERNATIVE_NAMES]
leaf() {
  key "$1.key"
  [ -s "$1.crt" ] && [ "${RENEW:-}" != 1 ] && return
  extensions=$(mktemp)
  {
    echo 'basicConstraints=critical,CA:FALSE'
    echo 'keyUsage=critical,digitalSignature'
    echo "extendedKeyUsage=$4"
    [ -z "${5:-}" ] || echo "subjectAltName=$5"
  } >"$extensions"
  # Written beside and renamed, so that a running server never reads half a file.
  openssl req -new -key "$1.key" -subj "$3" |
    openssl x509 -req -CA "$2.crt" -CAkey "$2.key" -set_serial "0x$(openssl rand -hex 16)" -days "$leaf_days" \
      -extfile "$extensions" -out "$1.crt.new" 2>/dev/null
  rm -f "$extensions"
  mv "$1.crt.new" "$1.crt"
}

authority etcd/ca 'etcd CA'
leaf etcd/member etcd/ca '/CN=etcd' 'serverAuth,clientAuth' \
  "$(alternative_names "$@" localhost 127.0.0.1)"
leaf etcd/client etcd/ca '/CN=keelson' clientAuth

authority pki/ca 'kubernetes CA'
leaf pki/apiserver pki/ca '/CN=kube-apiserver' serverAuth \
  "$(alternative_names "$@" localhost 127.0.0.1 kubernetes kubernetes.default kubernetes.default.svc \
    kubernetes.default.svc.cluster.local "${SERVICE_ADDRESS:-10.0.0.1}")"
leaf pki/admin pki/ca '/O=system:masters/CN=kubernetes-admin' clientAuth
authority pki/front-proxy-ca 'front-proxy CA'
leaf pki/front-proxy-client pki/front-proxy-ca '/CN=front-proxy-client' clientAuth
[ -s pki/sa.key ] || openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out pki/sa.key 2>/dev/null
[ -s pki/sa.pub ] || openssl pkey -in pki/sa.key -pubout -out pki/sa.pub

base64_of() {
  openssl base64 -A -in "$1"
}
if [ ! -s admin.kubeconfig ] || [ "${RENEW:-}" = 1 ]; then
  cat >admin.kubeconfig.new <<END
apiVersion: v1
kind: Config
clusters:
  - name: keelson
    cluster:
      server: https://$front:6443
      certificate-authority-data: $(base64_of pki/ca.crt)
users:
  - name: kubernetes-admin
    user:
      client-certificate-data: $(base64_of pki/admin.crt)
      client-key-data: $(base64_of pki/admin.key)
contexts:
  - name: keelson
    context: { cluster: keelson, user: kubernetes-admin }
current-context: keelson
END
  mv admin.kubeconfig.new admin.kubeconfig
fi
echo "certificates for $front are in $directory"
