// The whole flow with golang.org/x/oauth2.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"crypto/sha256"
	"encoding/base64"

	"golang.org/x/oauth2"
)

func main() {
	base := os.Getenv("BASE")
	config := &oauth2.Config{
		ClientID:    os.Getenv("CLIENT_ID"),
		RedirectURL: os.Getenv("CALLBACK"),
		Scopes:      strings.Split(os.Getenv("SCOPE"), " "),
		Endpoint: oauth2.Endpoint{
			AuthURL: base + "/oauth2/authorize", TokenURL: base + "/oauth2/token", AuthStyle: oauth2.AuthStyleInParams,
		},
	}
	verifier := strings.Repeat("v", 64)
	sum := sha256.Sum256([]byte(verifier))
	fmt.Println(config.AuthCodeURL("state of the test",
		oauth2.SetAuthURLParam("code_challenge", base64.RawURLEncoding.EncodeToString(sum[:])),
		oauth2.SetAuthURLParam("code_challenge_method", "S256")))
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	must(err)
	called, err := url.Parse(strings.TrimSpace(line))
	must(err)
	background := context.Background()
	token, err := config.Exchange(background, called.Query().Get("code"), oauth2.SetAuthURLParam("code_verifier", verifier))
	must(err)
	fmt.Println(statusOf(config.Client(background, token), base))
	token.Expiry = time.Now().Add(-time.Hour)
	renewed, err := config.TokenSource(background, token).Token()
	must(err)
	fmt.Println(statusOf(config.Client(background, renewed), base), renewed.Extra("scope"))
}

func statusOf(client *http.Client, base string) int {
	response, err := client.Get(base + "/customer-api/v1/contacts")
	must(err)
	defer response.Body.Close()
	return response.StatusCode
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
