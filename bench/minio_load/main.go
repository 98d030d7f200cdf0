// The client library that warp measures with (minio-go), doing what warp does: PutObject from
// memory, GetObject to nowhere, N at once. It stands in for warp where warp itself can't be had.
//
//	minio_load ENDPOINT BUCKET PREFIX SIZE COUNT CONNECTIONS
//
// Credentials: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY. One line of JSON for put and one for get:
// requests, wall and CPU (getrusage) of the requests alone. Payloads are neither signed nor hashed.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const deadline = 5 * time.Minute

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		log.Fatalf("%q is no number above 0", text)
	}
	return value
}

func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Does `count` requests, `connections` at once, and prints what they took.
func phase(name string, count, connections int, request func(index int) error) {
	var next atomic.Int64
	var workers sync.WaitGroup
	began, before := time.Now(), cpu()
	for range connections {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for index := int(next.Add(1)) - 1; index < count; index = int(next.Add(1)) - 1 {
				if err := request(index); err != nil {
					log.Fatalf("%s %d: %v", name, index, err)
				}
			}
		}()
	}
	workers.Wait()
	wall, used := time.Since(began), cpu()-before
	fmt.Printf("{\"phase\":%q,\"requests\":%d,\"wall_s\":%f,\"cpu_s\":%f}\n",
		name, count, wall.Seconds(), used.Seconds())
}

func main() {
	if len(os.Args) != 7 {
		log.Fatal("usage: minio_load ENDPOINT BUCKET PREFIX SIZE COUNT CONNECTIONS")
	}
	endpoint, bucket, prefix := os.Args[1], os.Args[2], os.Args[3]
	size, count, connections := number(os.Args[4]), number(os.Args[5]), number(os.Args[6])
	transport := &http.Transport{
		MaxIdleConns: connections, MaxIdleConnsPerHost: connections, DisableCompression: true,
	}
	client, err := minio.New(endpoint, &minio.Options{
		Creds: credentials.NewEnvAWS(), Region: "us-east-1", Transport: transport,
		BucketLookup: minio.BucketLookupPath,
	})
	if err != nil {
		log.Fatal(err)
	}
	within, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	body := make([]byte, size)
	rand.New(rand.NewSource(1)).Read(body)
	key := func(index int) string { return fmt.Sprintf("%s%08d", prefix, index) }
	put := minio.PutObjectOptions{DisableMultipart: true, DisableContentSha256: true}
	phase("put", count, connections, func(index int) error {
		reader := bytes.NewReader(body)
		_, err := client.PutObject(within, bucket, key(index), reader, int64(size), put)
		return err
	})
	phase("get", count, connections, func(index int) error {
		object, err := client.GetObject(within, bucket, key(index), minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer object.Close()
		read, err := io.Copy(io.Discard, object)
		if err == nil && read != int64(size) {
			err = fmt.Errorf("%d bytes of %d", read, size)
		}
		return err
	})
	for index := range count {
		if err := client.RemoveObject(within, bucket, key(index), minio.RemoveObjectOptions{}); err != nil {
			log.Fatal(err)
		}
	}
}
