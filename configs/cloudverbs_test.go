package configs_test

import "testing"

// The tables of the clouds knew deletions, and of the rest some operations of some services. What changes
// who may do what, hands out a login, narrows the watch, runs code with the rights of a role, makes
// something public or copies a database out passed for all other services. The noun and the verb say it
// now, whatever the service.
func TestCloudVerbs(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		aws newservice put-resource-policy --policy file://p.json
		aws sso-admin attach-managed-policy-to-permission-set --permission-set-arn p --managed-policy-arn a
		aws identitystore create-group-membership --group-id g --member-id UserId=u
		aws cognito-idp admin-set-user-password --user-pool-id p --username u --password x --permanent
		aws apigateway update-authorizer --rest-api-id a --authorizer-id b --patch-operations op=replace
		aws ec2 replace-network-acl-entry --network-acl-id a --rule-number 100 --rule-action allow --cidr-block 0.0.0.0/0
		aws lightsail create-bucket-access-key --bucket-name b
		aws sagemaker create-presigned-domain-url --domain-id d --user-profile-name u
		aws apigateway create-api-key
		aws rds modify-db-instance --db-instance-identifier d --publicly-accessible --apply-immediately
		aws rds modify-db-instance --db-instance-identifier d --master-user-password x
		aws lightsail update-bucket --bucket-name b --access-rules getObject=public
		aws lambda create-function-url-config --function-name f --auth-type NONE
		aws guardduty create-ip-set --activate --detector-id d --format TXT --location http://example.com/l
		aws ecr put-image-scanning-configuration --repository-name r --image-scanning-configuration scanOnPush=false
		aws lambda create-function --function-name f --role arn:aws:iam::1:role/admin --zip-file fileb://f.zip
		aws ec2 run-instances --image-id i --iam-instance-profile Name=admin
		aws ec2 run-instances --image-id i --user-data file://start.sh
		aws ec2 run-instances --image-id i --count 200
		aws ssm send-command --document-name AWS-RunRemoteScript --parameters '{"sourceType":["S3"]}' --instance-ids i
		aws ssm create-association --name d --targets Key=InstanceIds,Values=i
		aws cloudformation create-stack --stack-name s --template-url https://example.com/t --role-arn r
		aws dynamodb export-table-to-point-in-time --table-arn a --s3-bucket b
		aws dynamodb execute-statement --statement "DELETE FROM users"
		aws sns publish --topic-arn t --message m
		gcloud beta sql users set-password u --instance=i
		gcloud logging sinks update s --disabled
		gcloud scc muteconfigs create m --organization=1 --filter=x
		gcloud storage buckets update gs://b --no-public-access-prevention
		gcloud storage buckets update gs://b --add-acl-grant=entity=AllUsers,role=READER
		gcloud storage hmac create a@example.com
		gcloud compute instances add-metadata v --metadata-from-file=startup-script=x.sh
		gcloud compute instances create v --service-account=admin@p.iam.gserviceaccount.com --scopes=cloud-platform
		gcloud scheduler jobs create http j --uri=https://example.com --oauth-service-account-email a@example.com
		gcloud sql export sql i gs://b/a.sql
		gcloud compute instances stop v
		az sql server update -n s -g g --admin-password p
		az ad group member add --group g --member-id m
		az cosmosdb sql role assignment create -a a -g g --role-definition-id r --principal-id p --scope /
		az rest --method POST --uri https://graph.microsoft.com/v1.0/applications/a/addPassword
		az vm run-command invoke -g g -n v --command-id RunShellScript --scripts @x.sh
		az vm create -g g -n v --image i --assign-identity /subscriptions/s
		az automation runbook publish -g g --automation-account-name a --name r
		az vm deallocate -g g -n v
		aliyun ram AttachPolicyToUser --UserName u --PolicyName AdministratorAccess
		openstack role add --user u --project p admin
		oci os preauth-request create --bucket-name b`)
	asks(t, judge, false, `
		aws s3 cp app.js s3://releases/app.js
		aws s3 sync dist s3://site
		aws ecs update-service --cluster c --service s --force-new-deployment
		aws ecs register-task-definition --cli-input-json file://task.json
		aws ecs run-task --cluster c --task-definition t
		aws cloudformation deploy --template-file t.yml --stack-name s --capabilities CAPABILITY_IAM
		aws cloudformation describe-stack-resources --stack-name s
		aws eks update-kubeconfig --name c
		aws iam get-role --role-name r
		aws iam list-attached-role-policies --role-name r
		aws iam simulate-principal-policy --policy-source-arn a --action-names s3:GetObject
		aws iam get-credential-report
		aws ec2 describe-security-groups
		aws ec2 describe-image-attribute --image-id i --attribute launchPermission
		aws ec2 run-instances --image-id i --count 1 --instance-type t3.micro
		aws sqs create-queue --queue-name q
		aws dynamodb create-table --table-name t
		aws dynamodb put-item --table-name t --item file://i.json
		aws dynamodb execute-statement --statement "SELECT * FROM t"
		aws kms create-alias --alias-name alias/a --target-key-id k
		aws lambda invoke --function-name f out.json
		aws ssm send-command --document-name AWS-RunShellScript --instance-ids i --parameters 'commands=uptime'
		aws ecr get-login-password
		gcloud run deploy s --image i
		gcloud run services update s --image i
		gcloud app deploy
		gcloud builds submit --tag t
		gcloud config set project "$PROJECT"
		gcloud components update
		gcloud services enable container.googleapis.com
		gcloud container clusters create-auto "$CLUSTER"
		gcloud container clusters get-credentials "$CLUSTER"
		gcloud iam service-accounts create "$NAME"
		gcloud compute instances create v
		gcloud storage cp app.js gs://releases/
		az account set --subscription s
		az extension add --name e
		az acr build -t t .
		az vm list -o table
		az role assignment list
		az group create -n g -l l
		az webapp config appsettings set -n a -g g --settings A=b
		az containerapp update -n a -g g --image i
		az repos pr update --id 1
		az rest --method GET --uri https://graph.microsoft.com/v1.0/me`)
}
