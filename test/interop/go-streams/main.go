// The streaming server and clients of Kubernetes, to judge the implementation in TypeScript.
//
//	go-streams serve                       the streaming server of container runtimes
//	go-streams exec spdy|websocket URL     a command of client-go, whose stdin is that of this program
//	go-streams forward spdy|websocket URL LOCAL:REMOTE
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	clientexec "k8s.io/client-go/util/exec"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	server "k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

func main() {
	var err error
	switch os.Args[1] {
	case "serve":
		err = serve()
	case "exec":
		err = execute(os.Args[2], os.Args[3])
	case "forward":
		err = forward(os.Args[2], os.Args[3], os.Args[4])
	}
	var exit clientexec.CodeExitError
	if errors.As(err, &exit) {
		os.Exit(exit.Code)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(100)
	}
}

// local runs commands as processes of this machine.
type local struct{}

func (local) Exec(ctx context.Context, _ string, words []string, in io.Reader, out, errOut io.WriteCloser, _ bool, resize <-chan server.TerminalSize) error {
	if words[0] == "size" {
		size := <-resize
		_, err := fmt.Fprintf(out, "%d %d", size.Width, size.Height)
		return err
	}
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	if in != nil {
		stdin, err := command.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			defer stdin.Close()
			io.Copy(stdin, in)
		}()
	}
	command.Stdout, command.Stderr = out, errOut
	err := command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return clientexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

func (local) Attach(_ context.Context, _ string, in io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan server.TerminalSize) error {
	_, err := io.Copy(out, in)
	return err
}

func (local) PortForward(_ context.Context, _ string, port int32, stream io.ReadWriteCloser) error {
	target, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer target.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(stream, target)
	}()
	io.Copy(target, stream)
	target.(*net.TCPConn).CloseWrite()
	<-done
	return nil
}

// serve answers the paths of a kubelet: each request gets a token of the streaming server, and is passed on to it.
func serve() error {
	config := streaming.DefaultConfig
	config.BaseURL = &url.URL{Scheme: "http", Host: "runtime"}
	streams, err := streaming.NewServer(config, local{})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("{\"port\":%d}\n", listener.Addr().(*net.TCPAddr).Port)
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		is := func(name string) bool { return query.Get(name) == "1" }
		var token string
		switch strings.Split(r.URL.Path, "/")[1] {
		case "exec":
			answer, err := streams.GetExec(&runtimeapi.ExecRequest{
				ContainerId: "main", Cmd: query["command"],
				Stdin: is("input"), Stdout: is("output"), Stderr: is("error") && !is("tty"), Tty: is("tty"),
			})
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			token = answer.Url
		case "attach":
			answer, _ := streams.GetAttach(&runtimeapi.AttachRequest{ContainerId: "main", Stdin: true, Stdout: true})
			token = answer.Url
		case "portForward":
			answer, _ := streams.GetPortForward(&runtimeapi.PortForwardRequest{PodSandboxId: "pod"})
			token = answer.Url
		default:
			http.NotFound(w, r)
			return
		}
		r.URL, _ = url.Parse(token)
		streams.ServeHTTP(w, r)
	}))
}

func configOf(address string) (*rest.Config, *url.URL, error) {
	location, err := url.Parse(address)
	if err != nil {
		return nil, nil, err
	}
	config := &rest.Config{Host: location.Scheme + "://" + location.Host, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	return config, location, nil
}

func execute(kind, address string) error {
	config, location, err := configOf(address)
	if err != nil {
		return err
	}
	var executor remotecommand.Executor
	if kind == "spdy" {
		executor, err = remotecommand.NewSPDYExecutor(config, "POST", location)
	} else {
		executor, err = remotecommand.NewWebSocketExecutor(config, "GET", address)
	}
	if err != nil {
		return err
	}
	query := location.Query()
	options := remotecommand.StreamOptions{}
	if query.Get("input") == "1" {
		options.Stdin = os.Stdin
	}
	options.Stdout = os.Stdout
	if query.Get("tty") == "1" {
		options.Tty = true
		options.TerminalSizeQueue = &oneSize{size: &remotecommand.TerminalSize{Width: 123, Height: 45}}
	} else if query.Get("error") == "1" {
		options.Stderr = os.Stderr
	}
	return executor.StreamWithContext(context.Background(), options)
}

// oneSize gives one size of a terminal.
type oneSize struct{ size *remotecommand.TerminalSize }

func (o *oneSize) Next() *remotecommand.TerminalSize {
	size := o.size
	o.size = nil
	return size
}

func forward(kind, address, ports string) error {
	config, location, err := configOf(address)
	if err != nil {
		return err
	}
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return err
	}
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", location)
	if kind == "websocket" {
		dialer, err = portforward.NewSPDYOverWebsocketDialer(location, config)
		if err != nil {
			return err
		}
	}
	ready := make(chan struct{})
	forwarder, err := portforward.New(dialer, []string{ports}, make(chan struct{}), ready, io.Discard, os.Stderr)
	if err != nil {
		return err
	}
	go func() {
		<-ready
		forwarded, _ := forwarder.GetPorts()
		json.NewEncoder(os.Stdout).Encode(map[string]int{"port": int(forwarded[0].Local)})
	}()
	return forwarder.ForwardPorts()
}
